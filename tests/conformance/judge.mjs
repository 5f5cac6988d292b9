// Judges the results of one scenario, as the suite wrote them, and prints one line about them.
// usage: node judge.mjs SCENARIO SUITE_EXIT_CODE RESULTS_FOLDER [ALLOWED_WARNING_ID...]
//
// The suite's own verdict is not enough: it exits 0 on warnings and on skipped scenarios.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

const [scenario, exitCode, folder, ...allowed] = process.argv.slice(2);

let checks = [];
const problems = [];
try {
  // RESULTS_FOLDER/server-SCENARIO-TIMESTAMP/checks.json: one, as each scenario has its own folder.
  for (const run of readdirSync(folder)) {
    checks = checks.concat(JSON.parse(readFileSync(join(folder, run, "checks.json"), "utf8")));
  }
} catch (error) {
  problems.push(`no results: ${error.message}`);
}

const counts = { SUCCESS: 0, FAILURE: 0, WARNING: 0, SKIPPED: 0 };
const isAllowed = ({ id, status }) => status === "WARNING" && allowed.includes(id);
for (const check of checks) {
  const { id, status, description, errorMessage } = check;
  counts[status] = (counts[status] ?? 0) + 1;
  const fine = status === "SUCCESS" || status === "INFO" || isAllowed(check);
  if (!fine) problems.push(`${status} ${id}: ${errorMessage ?? description}`);
}

if (exitCode !== "0" && counts.FAILURE === 0) {
  problems.push(`the suite ended with exit code ${exitCode} without a failed check`);
}
// The suite adds the schema check to every scenario; alone it says nothing about the scenario.
const own = checks.filter(({ id }) => id !== "wire-schema-valid");
if (!own.some((check) => check.status === "SUCCESS" || isAllowed(check)) && problems.length === 0) {
  problems.push("no check of the scenario itself succeeded");
}

const numbers = `${counts.SUCCESS} ok, ${counts.FAILURE} failed, ${counts.WARNING} warnings, ${counts.SKIPPED} skipped`;
console.log(`${problems.length === 0 ? "PASS" : "FAIL"}  ${scenario.padEnd(44)} ${numbers}`);
for (const problem of problems) console.log(`      ${problem}`);
process.exit(problems.length === 0 ? 0 : 1);
