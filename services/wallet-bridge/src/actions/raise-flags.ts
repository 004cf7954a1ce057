import type { FlagRule, FlagRules } from '@pitboss/contracts/objects/flag'
import type { Clock } from '@pitboss/runtime/clock'
import { failpoint } from '@pitboss/runtime/failpoint'
import type { Logger } from 'pino'
import { newFlag } from '../records/new-flag.ts'
import { countsOf, flagRulesOf, isBackAfterWin, type LookReason } from '../rules/flags.ts'
import { scopeOf } from '../rules/movement-keys.ts'
import { looksOf, type MoneyEntry, type RoundMoney } from '../storage/round-money.ts'
import type { FlagDocument, FlagStore } from '../storage/flag-store.ts'
import type { MovementDocument } from '../storage/movement-document.ts'
import type { Wallets } from '../storage/wallet-document.ts'

/**
 * Raises the flags that follow from entries which ask for it, as a duty of theirs. The id of a flag follows
 * from its fact, so a repeat after a crash raises none twice.
 */
export function createRaiseFlags({
  flags,
  readMoney,
  wallets,
  clock,
  logger,
}: {
  flags: FlagStore
  /** The round's money that an entry belongs to, as a majority has it. */
  readMoney: (entry: MoneyEntry) => Promise<RoundMoney>
  wallets: Pick<Wallets, 'copy'>
  clock: Clock
  logger: Pick<Logger, 'info'>
}): (entries: readonly MoneyEntry[]) => Promise<void> {
  return async function raiseFlags(entries) {
    for (const entry of entries) {
      const asked = entry.f.flatMap(looksOf)
      if (asked.length === 0) continue
      const money = await readMoney(entry)
      for (const { transactionId, reasons } of asked) {
        const movement = money.get(transactionId)
        if (movement === undefined) continue
        const rules = flagRulesOf(await wallets.copy(scopeOf(movement)))
        for (const reason of reasons) await look(movement, reason, { rules, money })
      }
      await failpoint('wallet.flags-raised')
    }
  }

  async function look(
    movement: MovementDocument,
    reason: LookReason,
    { rules, money }: { rules: FlagRules; money: RoundMoney },
  ): Promise<void> {
    if (reason === 'BIG_WIN') return raise('BIG_WIN', movement)
    if (reason === 'UNKNOWN_OUTCOME') return countUnknown(movement, rules)
    if (!rules.back_after_win) return
    if (isBackAfterWin(movement, [...money.values()])) await raise('BACK_AFTER_WIN', movement)
  }

  async function raise(rule: FlagRule, movement: MovementDocument): Promise<void> {
    const { transactionId, reference, createdAt } = movement
    await keep(
      newFlag(movement, {
        ...{ rule, about: transactionId, of: reference, happenedAt: createdAt, raisedAt: clock.now() },
        transactionIds: [transactionId],
      }),
    )
  }

  async function countUnknown(movement: MovementDocument, rules: FlagRules): Promise<void> {
    for (const { rule, subject, limit } of countsOf(movement, rules)) {
      const { first, transactionIds } = await flags.count(scopeOf(movement), subject, movement, clock.now())
      if (transactionIds.length < limit) continue
      const fact = { rule, about: subject, of: first.reference, happenedAt: first.at, raisedAt: clock.now() }
      const flag = newFlag(movement, { ...fact, transactionIds })
      if (!(await keep(flag))) await flags.grow(flag._id, transactionIds, clock.now())
    }
  }

  async function keep(flag: FlagDocument): Promise<boolean> {
    const isNew = await flags.insert(flag)
    const { _id, rule, operatorId, environment } = flag
    if (isNew) logger.info({ flag_id: _id, rule, operator_id: operatorId, environment }, 'flag.raised')
    return isNew
  }
}
