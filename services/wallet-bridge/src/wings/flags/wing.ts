import { answer, handler, type HandlerContext } from '@pitboss/bus/serve-calls'
import { type ActedBy, actedBy } from '@pitboss/contracts/audit'
import { type Caller, lookupScopes, type Scope, scopeOf } from '@pitboss/contracts/caller'
import * as endpoints from '@pitboss/contracts/endpoints/flags'
import { flagMax, type FlagRule, type FlagRules } from '@pitboss/contracts/objects/flag'
import { toAccountMode } from '@pitboss/contracts/primitives'
import { conflict, ServiceError } from '@pitboss/errors/service-error'
import { failpoint } from '@pitboss/runtime/failpoint'
import { changeFenced } from '@pitboss/storage/change-fenced'
import { findInScopes } from '@pitboss/storage/find-in-scopes'
import { answerPage, readPage } from '@pitboss/storage/read-page'
import type { z } from 'zod'
import { windowOf } from '../../actions/read-movements.ts'
import type { WalletContext } from '../../context.ts'
import { normaliseAmount } from '../../records/new-movement.ts'
import { countsOf, flagRulesOf, isBackAfterWin } from '../../rules/flags.ts'
import type { MovementDocument } from '../../storage/movement-document.ts'
import type { OpenMoney } from '../../storage/open-money.ts'
import { looksOf, type MoneyEntry } from '../../storage/round-money.ts'
import type { Wing } from '../../wing.ts'
import { newFlag, toCaseRecord, toFlag, toFlagCase } from './records/render-flag.ts'
import { createFlagStore, type FlagDocument, flagIndexes, type FlagStore } from './storage/flag-store.ts'

/** Movements that somebody should check, with a case about each. Source: docs/contract.md, section 3. */
export const flags: Wing = {
  indexes: flagIndexes,
  audited: ['flags'],
  open(core, { db, readMoney }) {
    const context = { ...core, readMoney, flags: createFlagStore(db) }
    return {
      calls: [
        handler(endpoints.listFlags.call, async ({ caller, query }) =>
          answerPage(await listFlags(context, caller.scope, query), toFlag),
        ),
        handler(endpoints.getFlag.call, async ({ caller, params }) =>
          answer(toFlagCase(await findFlag(context, caller, params.flag_id))),
        ),
        handler(endpoints.patchFlag.call, async (asked, call) =>
          answer(toFlagCase(await changeFlag(context, asked, call))),
        ),
        handler(endpoints.getFlagRules.call, async ({ caller }) =>
          answer(flagRulesOf(await core.wallets.find(caller.scope))),
        ),
        handler(endpoints.putFlagRules.call, async ({ caller, body }, call) =>
          answer(await putFlagRules(context, caller.scope, body, actedBy(caller, call))),
        ),
      ],
      duties: [{ name: 'flags', run: (entries) => raiseFlags(context, entries) }],
    }
  },
}

type FlagsContext = WalletContext & Pick<OpenMoney, 'readMoney'> & { readonly flags: FlagStore }

type ListQuery = z.infer<typeof endpoints.listFlags.query>
type Patched = z.output<typeof endpoints.patchFlag.call.request>

const fencedTriesMax = 10

/** @throws ServiceError NOT_FOUND */
async function findFlag({ flags }: FlagsContext, caller: Caller, flagId: string) {
  return findInScopes(lookupScopes(caller), (scope) => flags.find(scope, flagId))
}

/** Newest first. @throws ServiceError VALIDATION_ERROR for a bad cursor or window */
async function listFlags({ flags, cursors }: FlagsContext, scope: Scope, asked: ListQuery) {
  const { limit, cursor, environment: _environment, ...query } = asked
  const { rule, status, player_id: playerId } = query
  const filters = { rule, status, playerId, ...windowOf(query) }
  return readPage({
    cursors,
    binding: { list: 'flags', scope, ...query },
    query: { limit, cursor },
    read: (before, max) => flags.list(scope, filters, { before, limit: max }),
    positionOf: ({ _id }) => _id,
  })
}

/** A repeat of the last change is none. @throws ServiceError NOT_FOUND; CONFLICT with too many notes */
async function changeFlag(context: FlagsContext, asked: Patched, call: HandlerContext) {
  const { flags, audit, clock } = context
  const { caller, params, body: patch } = asked
  const find = () => findFlag(context, caller, params.flag_id)
  const by = actedBy(caller, call)
  return changeFenced<FlagDocument, FlagDocument>({
    document: await find(),
    change: async (flag) => {
      const after = changedCase(flag, patch, by.actor, clock.now())
      if (after === null) return flag
      const [before, now] = [toCaseRecord(flag), toCaseRecord(after)]
      const object = { type: 'flag', id: flag._id }
      return flags.change(flag, after, audit.entry(by, { act: 'flag.change', object, before, after: now }))
    },
    ...{ reread: find, triesMax: fencedTriesMax, name: `the flag ${params.flag_id}` },
  })
}

/** @throws ServiceError WALLET_NOT_CONFIGURED; VALIDATION_ERROR for an amount its currency cannot have */
async function putFlagRules(context: FlagsContext, scope: Scope, given: FlagRules, by: ActedBy) {
  const { wallets, audit } = context
  const big_win = given.big_win.map((one, index) => {
    return { ...one, amount: normaliseAmount(one.amount, one.currency, `big_win[${index}].`) }
  })
  const rules = { ...given, big_win }
  const object = { type: 'flag-rules', id: toAccountMode(scope.environment) }
  const changed = await wallets.setFlagRules(scope, rules, (before) =>
    audit.entry(by, { act: 'flag-rules.put', object, before: flagRulesOf(before), after: rules }),
  )
  if (changed === null) throw new ServiceError('WALLET_NOT_CONFIGURED')
  return rules
}

/** The case after the change; null when it changes nothing. @throws ServiceError CONFLICT */
function changedCase(flag: FlagDocument, patch: Patched['body'], { id, name }: ActedBy['actor'], at: Date) {
  const { status, notes } = flag
  const { note } = patch
  const last = notes.at(-1)
  const isRepeat = last?.text === note && last?.userId === id
  const added = note === undefined || isRepeat ? [] : [{ at, by: name, userId: id, text: note }]
  const wanted = patch.status ?? status
  if (wanted === status && added.length === 0) return null
  if (notes.length + added.length > flagMax.notes)
    throw conflict(`A case has at most ${flagMax.notes} notes.`)
  return { status: wanted, notes: [...notes, ...added], updatedAt: at }
}

/** Raises the flags that entries call for, under ids that follow from their facts. */
async function raiseFlags(context: FlagsContext, entries: readonly MoneyEntry[]): Promise<void> {
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
