import { formatAmount } from '@pitboss/money/amount'
import { currencyCodes } from '@pitboss/money/currencies'
import { formatMultiplier } from '@pitboss/money/rational'
import { createCatalogue } from '@pitboss/rounds/rules/catalogue'
import { platformLimits } from '@pitboss/rounds/rules/limits'
import { ratesAt, unitsPerDollar } from '@pitboss/rounds/rules/rates'

const head = `# Limits of the platform

Least stake, greatest stake and greatest payout of a round in every currency, and what each game returns at least at the least stake
(\`rtp_at_min_stake\` in [\`GET /v1/games\`](contract.md#games)). Written by \`npm run limits\` from the rates of ${ratesAt}
(\`services/rounds/src/rules/rates.ts\`); a test holds page and service together.

Limits are set by value: those of the dollar are taken at these rates and brought to the nearest 1, 2 or 5 with zeros, and no least stake is below ten
minor units. Currencies without a rate have figures of their own. The rates are for these limits alone and are renewed with a release, not with
the market: limits that moved every day would be nobody's rule.

- Operations set other limits for an account, in either direction: \`ops game limits GAME --operator OP --currency C …\`.
- An account narrows what it may use: \`PATCH /v1/games/{slug}\`. Its limits that a later release no longer allows are brought to the nearest that it does.
- A session narrows its stakes once more.
`

/** The page of the platform's limits, docs/limits.md. */
export function renderLimits(): string {
  const { entries } = createCatalogue()
  const rows = currencyCodes().map((currency) => {
    const limits = platformLimits(currency)
    if (limits === null) throw new Error(`${currency} has no limits`)
    const { minStake, maxStake, maxPayout } = limits
    const returns = entries.map(({ leastReturn }) => {
      const least = leastReturn({ stake: minStake, maxPayout })
      return least === null ? '–' : formatMultiplier(least)
    })
    const amounts = [minStake, maxStake, maxPayout].map((minor) => formatAmount(minor, currency))
    return [currency, unitsPerDollar[currency] ?? '–', ...amounts, ...returns]
  })
  const columns = ['Currency', 'Units a dollar', 'Least stake', 'Greatest stake', 'Greatest payout']
  const table = [
    [...columns, ...entries.map(({ game }) => game.slug)],
    [...columns, ...entries].map((_, index) => (index === 0 ? '---' : '--:')),
    ...rows,
  ]
  return `${head}\n${table.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n`
}
