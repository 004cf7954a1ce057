import { type Clause, clauses, type ClauseTest, greenRunOf } from '@pitboss/contracts/compliance'

const head = `# Rules of jurisdictions

Which clause of a regulator is enforced where, which test shows it, and when that test last passed. A clause in this table is
**enforced and tested**. That is all it says: a regulator or a test house decides about compliance. \`npm run compliance\` runs
the tests and writes this page; \`GET /v1/public/compliance\` has the same rows. The rules themselves are in
[contract.md](contract.md#jurisdictions).

A session is played under a jurisdiction when \`POST /v1/sessions\` names one, or by the default of its brand or account. The rules bind
rounds that the service drives. What a player sees of them in a session of the UK:

![Time and net spend in view, and a press that came too early](images/play-too-quick.png)

![A reality check](images/play-reality-check.png)
`

const foot = `## Not here

Clauses that we know of and that no row above enforces:

| Jurisdiction | Clause | Today |
| --- | --- | --- |
| UK | live monitoring of return to player | no rule of a session: [the watch of returns](rtp-watch.md) judges every game everywhere, with alarms and kept records |
| UK | which game is an online slots game, and how old a player is | the operator says both with \`stake_cap\` of a session ([why](decisions/2026-11-26-the-operator-says-what-is-a-slot.md)); without it there is no cap of its own |
| MT | game sheet within five days of a new game | \`npm run game-sheet -- <game>\` writes it: rules, exact returns, draw, limits, pictures; sending it is the operator's |
| SE | | no clause has a source yet; the session keeps the name |
`

/** The page docs/compliance.md: a table for each jurisdiction that has clauses. */
export function renderCompliance(): string {
  const names = [...new Set(clauses.map(({ jurisdiction }) => jurisdiction))]
  return [head, ...names.map(tableOf), foot].join('\n')
}

function tableOf(name: Clause['jurisdiction']): string {
  const rows = clauses.filter(({ jurisdiction }) => jurisdiction === name).map(rowOf)
  const columns = ['Clause', 'Asks', 'How', 'Enforced at', 'Tests, and their last green run']
  return [`## ${name}`, '', line(columns), line(columns.map(() => '---')), ...rows, ''].join('\n')
}

function rowOf({ clause, source, asks, means, enforcedAt, tests }: Clause): string {
  const files = enforcedAt.map((file) => `[${file.split('/').at(-1)}](../${file})`)
  return line([
    `[${clause}](${source})`,
    asks,
    means,
    files.join(', '),
    tests.map((test) => testOf(test)).join('<br>'),
  ])
}

function testOf(test: ClauseTest): string {
  return `[${test.name}](../${test.file}) (${greenRunOf(test) ?? 'not run yet'})`
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`
}
