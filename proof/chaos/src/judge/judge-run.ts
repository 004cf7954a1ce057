import { writeFileSync } from 'node:fs'
import { z } from 'zod'
import { forgottenIds } from '../check/restored.ts'
import type { Sources } from '../check/sources.ts'
import type { Verdict } from '../check/verdict.ts'
import { untilStatus } from '../operator-client.ts'
import type { Tenancy } from '../open-tenancies.ts'
import { type Books, judgeBooks } from './judge-books.ts'

const catalogue = z.object({
  data: z.array(
    z.looseObject({
      slug: z.string(),
      limits: z.array(z.looseObject({ currency: z.string(), max_payout: z.string() })),
    }),
  ),
})

/** Keeps what each account's environment said at the end of a run, and has it judged from that file alone. */
export async function judgeRun(
  path: string,
  compared: readonly { tenancy: Tenancy; sources: Sources }[],
  verdict: Verdict,
): Promise<void> {
  const books = []
  for (const { tenancy, sources } of compared) {
    const { rounds, movements, events, ledger, balances, restored } = sources
    const games = catalogue.parse(
      (await untilStatus(200, () => tenancy.operator.call('GET', '/games'))).body,
    ).data
    books.push({
      ...{ name: tenancy.name, rounds, movements, events, ledger },
      balances: Object.fromEntries(balances),
      maxPayouts: Object.fromEntries(
        games.flatMap(({ slug, limits }) =>
          limits.map(({ currency, max_payout }) => [`${slug} ${currency}`, max_payout]),
        ),
      ),
      setBack:
        restored?.services.includes('rounds') === true
          ? [...restored.changed, ...restored.lost.keys(), ...forgottenIds(sources)]
          : null,
    })
  }
  const text = JSON.stringify(books)
  writeFileSync(path, text)
  for (const { name, checked, violations } of judgeBooks(JSON.parse(text) as Books[])) {
    for (let held = checked - violations.length; held > 0; held--) verdict.check(name, true, () => '')
    for (const violation of violations) verdict.check(name, false, () => violation)
  }
}
