/** The last run in which each test of docs/compliance.md passed, by file and name; `npm run compliance` writes it. */
export const greenRuns: Readonly<Record<string, string>> = {}
