import type { FlagRule, FlagRules } from '@pitboss/contracts/objects/flag'
import { failpoint } from '@pitboss/runtime/failpoint'
import { countsOf, flagRulesOf, isBackAfterWin } from '../../../rules/flags.ts'
import { scopeOf } from '../../../rules/movement-keys.ts'
import type { MovementDocument } from '../../../storage/movement-document.ts'
import { type MoneyEntry, looksOf } from '../../../storage/round-money.ts'
import { newFlag } from '../records/render-flag.ts'
import type { FlagDocument } from '../storage/flag-store.ts'
import type { FlagsContext } from './manage-flags.ts'

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
      const isBack = () => rules.back_after_win && isBackAfterWin(movement, [...money.values()])
      for (const reason of reasons) {
        if (reason === 'UNKNOWN_OUTCOME') await countUnknown(context, movement, rules)
        else if (reason === 'BIG_WIN' || isBack()) await raise(context, reason, movement)
      }
    }
    await failpoint('wallet.flags-raised')
  }
}

async function raise(context: FlagsContext, rule: FlagRule, movement: MovementDocument): Promise<void> {
  const { transactionId: about, reference: of, createdAt: happenedAt } = movement
  const fact = { rule, about, of, happenedAt, raisedAt: context.clock.now(), transactionIds: [about] }
  await keep(context, newFlag(movement, fact))
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
