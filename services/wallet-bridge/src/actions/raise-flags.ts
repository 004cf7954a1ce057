import type { FlagRule, FlagRules } from '@pitboss/contracts/objects/flag'
import type { Clock } from '@pitboss/runtime/clock'
import { failpoint } from '@pitboss/runtime/failpoint'
import type { Logger } from 'pino'
import { newFlag } from '../records/new-flag.ts'
import { countsOf, flagRulesOf, isBackAfterWin, type LookReason } from '../rules/flags.ts'
import { scopeOf } from '../rules/movement-keys.ts'
import type { FlagDocument, FlagStore } from '../storage/flag-store.ts'
import type { Looks } from '../storage/looks.ts'
import type { MovementDocument, MovementStore } from '../storage/movements.ts'
import type { Wallets } from '../storage/wallet-document.ts'

const looksPerRun = 100
/** More movements than a round has. */
const roundMovementsMax = 500

/**
 * Looks at the movements whose writes asked for it, and raises the flags that follow. The id of a flag
 * follows from its fact, and a look ends after its flags are stored: whichever process dies when, each fact
 * gets one.
 * @returns whether more may wait
 */
export function createRaiseFlags({
  looks,
  flags,
  movements,
  wallets,
  clock,
  logger,
}: {
  looks: Looks
  flags: FlagStore
  movements: Pick<MovementStore, 'ofRound'>
  wallets: Pick<Wallets, 'find'>
  clock: Clock
  logger: Pick<Logger, 'info'>
}): () => Promise<boolean> {
  return async function raiseFlags() {
    const waiting = await looks.next(looksPerRun)
    for (const movement of waiting) {
      const rules = flagRulesOf(await wallets.find(scopeOf(movement)))
      for (const reason of new Set(movement.lookFor)) await look(movement, reason, rules)
      await failpoint('wallet.flags-raised')
      await looks.end(movement)
    }
    return waiting.length === looksPerRun
  }

  async function look(movement: MovementDocument, reason: LookReason, rules: FlagRules): Promise<void> {
    if (reason === 'BIG_WIN') return raise('BIG_WIN', movement)
    if (reason === 'UNKNOWN_OUTCOME') return countUnknown(movement, rules)
    if (!rules.back_after_win) return
    const round = await movements.ofRound(scopeOf(movement), movement.roundId, roundMovementsMax)
    if (isBackAfterWin(movement, round)) await raise('BACK_AFTER_WIN', movement)
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
