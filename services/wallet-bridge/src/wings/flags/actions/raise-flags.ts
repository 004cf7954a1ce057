import type { FlagRule, FlagRules } from '@pitboss/contracts/objects/flag'
import { failpoint } from '@pitboss/runtime/failpoint'
import { type LookReason, flagRulesOf } from '../../../rules/flags.ts'
import { scopeOf } from '../../../rules/movement-keys.ts'
import type { MovementDocument } from '../../../storage/movement-document.ts'
import { type MoneyEntry, type RoundMoney, looksOf } from '../../../storage/round-money.ts'
import type { FlagsContext } from '../context.ts'
import { newFlag } from '../records/render-flag.ts'
import { countsOf, isBackAfterWin } from '../rules/flag-facts.ts'
import type { FlagDocument } from '../storage/flag-store.ts'

/** Raises the flags that entries call for, under ids that follow from their facts. */
export async function raiseFlags(context: FlagsContext, entries: readonly MoneyEntry[]): Promise<void> {
  for (const entry of entries) {
    const asked = entry.f.flatMap(looksOf)
    if (asked.length === 0) continue
    const money = await context.readMoney(entry)
    for (const { transactionId, reasons } of asked) {
      const movement = money.get(transactionId)
      if (movement === undefined) continue
      const rules = flagRulesOf(await context.wallets.copy(scopeOf(movement)))
      for (const reason of reasons) await look(context, movement, reason, { rules, money })
    }
    await failpoint('wallet.flags-raised')
  }
}

async function look(
  context: FlagsContext,
  movement: MovementDocument,
  reason: LookReason,
  { rules, money }: { rules: FlagRules; money: RoundMoney },
): Promise<void> {
  if (reason === 'BIG_WIN') return raise(context, 'BIG_WIN', movement)
  if (reason === 'UNKNOWN_OUTCOME') return countUnknown(context, movement, rules)
  if (!rules.back_after_win) return
  if (isBackAfterWin(movement, [...money.values()])) await raise(context, 'BACK_AFTER_WIN', movement)
}

async function raise(context: FlagsContext, rule: FlagRule, movement: MovementDocument): Promise<void> {
  const { transactionId, reference, createdAt } = movement
  await keep(
    context,
    newFlag(movement, {
      ...{ rule, about: transactionId, of: reference, happenedAt: createdAt, raisedAt: context.clock.now() },
      transactionIds: [transactionId],
    }),
  )
}

async function countUnknown(context: FlagsContext, movement: MovementDocument, rules: FlagRules) {
  const { flags, clock } = context
  for (const { rule, subject, limit } of countsOf(movement, rules)) {
    const { first, transactionIds } = await flags.count(scopeOf(movement), subject, movement, clock.now())
    if (transactionIds.length < limit) continue
    const fact = { rule, about: subject, of: first.reference, happenedAt: first.at, raisedAt: clock.now() }
    const flag = newFlag(movement, { ...fact, transactionIds })
    if (!(await keep(context, flag))) await flags.grow(flag._id, transactionIds, clock.now())
  }
}

async function keep({ flags, logger }: FlagsContext, flag: FlagDocument): Promise<boolean> {
  const isNew = await flags.insert(flag)
  const { _id, rule, operatorId, environment } = flag
  if (isNew) logger.info({ flag_id: _id, rule, operator_id: operatorId, environment }, 'flag.raised')
  return isNew
}
