#!/usr/bin/env bash
# The step of action.yml: analyses $PATHS; annotations to standard output, the report to the step's summary and a folder.
# Only a crash with $FAIL=true fails the step: what cannot be read is a warning, for the job has failed already.
set -uo pipefail
forensics=$RUNNER_TEMP/forensics/bin/forensics
report=$RUNNER_TEMP/forensics-report
mkdir -p "$report"

paths=()
while IFS= read -r path; do
  path=${path%$'\r'}
  if [ -z "$path" ]; then continue; fi
  if [ -e "$path" ]; then paths+=("$path"); else echo "::warning title=forensics::$path is not there"; fi
done <<< "$PATHS"
good=()
while IFS= read -r path; do if [ -n "$path" ]; then good+=("--baseline=$path"); fi; done <<< "${BASELINE:-}"
if [ "${#paths[@]}" = 0 ]; then echo "::warning title=forensics::no log to analyse"; exit 0; fi
if [ "${KERNEL_LOG:-true}" = true ] && sudo -n dmesg --time-format iso > "$report/kernel.log" 2> /dev/null; then
  paths+=("$report/kernel.log")
else
  rm -f "$report/kernel.log"
fi

redact=()
if [ "${REDACT:-false}" = true ]; then redact+=(--redact); fi
if ! said=$("$forensics" analyze "${good[@]}" "${redact[@]}" --format json --output "$report/report.json" -- "${paths[@]}" 2>&1); then
  echo "::warning title=forensics::${said//$'\n'/%0A}"
  exit 0
fi
rm -f "$report/kernel.log" # quoted where it matters; the rest tells of the whole machine
"$forensics" report "$report/report.json" --format github
"$forensics" report "$report/report.json" --format html --output "$report/report.html"
"$forensics" report "$report/report.json" --format markdown --output "$report/report.md"
read -r verdict cause < <("$RUNNER_TEMP/forensics/bin/python" -c '
import json, sys
report = json.load(open(sys.argv[1]))
cause = report["causes"][0]["id"]
print(report["verdict"], "" if cause.startswith("none.") else cause)' "$report/report.json")
printf '%s\n' "verdict=$verdict" "cause=$cause" "report=$report" >> "$GITHUB_OUTPUT"
if [ "${FAIL:-false}" = true ] && [ "$verdict" = crash ]; then exit 1; fi
