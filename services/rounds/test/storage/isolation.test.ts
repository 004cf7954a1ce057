import { randomBytes, randomUUID } from 'node:crypto'
import type { Scope } from '@pitboss/contracts/caller'
import { newId } from '@pitboss/runtime/new-id'
import { ensureIndexes } from '@pitboss/storage/ensure-indexes'
import { parseKeyring } from '@pitboss/storage/keyring'
import { renderEvent } from '@pitboss/storage/rendered-event'
import { createSecretBox } from '@pitboss/storage/stored-secrets'
import { exactReads } from '@pitboss/testing/exact-reads'
import { holdIsolation, linesFor } from '@pitboss/testing/hold-isolation'
import { openTestDatabase } from '@pitboss/testing/open-test-database'
import { sampleAuditEntry } from '@pitboss/testing/sample-audit-entry'
import type { Db } from 'mongodb'
import t from 'tap'
import { newRound } from '../../src/rules/new-round.ts'
import { createCommitmentsStore } from '../../src/storage/commitments-store.ts'
import { createGamesStore } from '../../src/storage/games-store.ts'
import { createGrantsStore } from '../../src/storage/grants-store.ts'
import { createPacesStore, createSpendsStore } from '../../src/wings/protection/storage/paces-store.ts'
import { createPlayerLimitsStore } from '../../src/wings/protection/storage/player-limits-store.ts'
import { createReceiptsStore } from '../../src/wings/receipts/storage/receipts-store.ts'
import { createLostRounds } from '../../src/storage/lost-rounds.ts'
import { createReportAdjustments, createReportsStore } from '../../src/wings/reports/storage/reports-store.ts'
import { createReportPlayers } from '../../src/wings/reports/storage/report-players.ts'
import { createReturnsStore } from '../../src/wings/returns/storage/returns-store.ts'
import { encodeRound, type FactEntry, sequenceKey } from '../../src/storage/round-document.ts'
import { scopeKey } from '@pitboss/contracts/caller'
import { createRoundLists } from '../../src/storage/round-lists.ts'
import { streamState } from '../../src/storage/round-stream.ts'
import { createRoundWork } from '../../src/storage/due-rounds.ts'
import { createRoundsStore } from '../../src/storage/rounds-store.ts'
import { openSession } from '../../src/storage/rounds-journal.ts'
import { createSessionsStore, type SessionsStore } from '../../src/storage/sessions-store.ts'
import { indexes } from '../../src/all-wings.ts'
import { createStopsStore } from '../../src/wings/protection/storage/stops-store.ts'
import { beginInstance, countFacts } from '../fixtures/count-facts.ts'
import { shardedRounds } from '../fixtures/sharded-rounds.ts'
import { testJournal } from '../fixtures/stored-rounds.ts'

const entryOf = () => sampleAuditEntry()

const owner: Scope = { operatorId: randomUUID(), environment: 'SANDBOX' }
const game = 'dice'
const currency = 'USD'
/** A game start of an hour ago is deleted by the database itself. */
const atPresent = new Date()
const dayMs = 86_400_000
// of today: the engine removes what is older than its collection keeps
const dayStart = new Date(atPresent.getTime() - (atPresent.getTime() % dayMs))
const dayEnd = new Date(dayStart.getTime() + dayMs)
const dayOf = (date: Date) => date.toISOString().slice(0, 10)
const monthOf = (date: Date) => date.toISOString().slice(0, 7)
const nextMonth = new Date(Date.UTC(dayStart.getUTCFullYear(), dayStart.getUTCMonth() + 1))
const [now, later] = [atPresent, new Date(Math.min(atPresent.getTime() + 3_600_000, dayEnd.getTime() - 1))]

const db = await openTestDatabase(t)
await ensureIndexes(db, indexes)
const refusal = { code: 'ROUND_IN_PROGRESS', message: 'no', details: null } as const
const dead = { ...refusal, requestHash: 'hash', meaning: null }
const killed = { ...dead, kind: 'request' } as const
const killedMovement = { ...dead, kind: 'movement' } as const
const stores = storesOf(shardedRounds(db))
const {
  commitments,
  games,
  grants,
  lists,
  lost,
  paces,
  playerLimits,
  players,
  receipts,
  adjustments,
  reports,
  returns,
  rounds,
  sessions,
  spends,
  stops,
} = stores
const ids = await makeThings()

type Ids = typeof ids
const { scoped, accountWide, internal, table } = linesFor<Ids>()
const sequenceIn = (scope: Scope, { playerId }: Ids) => sequenceKey(scope, game, playerId)
const window = (scope: Scope, grain: 'day' | 'month', from: string, to: string) =>
  ({ scope: scopeKey(scope), grain, unit: { $gte: from, $lt: to } }) as const
const page = { before: null, max: 10 }
/** Changes take a whole stored round, which their callers have read under a scope or claimed as a worker. */
const byActor =
  'round-actor.ts, with the round that its caller read by `find` with a scope, or as a worker by `findDue`'
const byOperations = 'repair-lost-rounds.ts for calls of operations, which the gateway does not make'
const byJournal = 'rounds-journal.ts, for the entries that this process has to list or take over'
const byStore = 'rounds-store.ts, which gives the answer to no other account'
const last = { nonce: 6, unfinished: false, next: null }

await holdIsolation(t, {
  db,
  owner,
  ids,
  neverMade: {
    playerId: 'nobody',
    sessionId: newId('ses'),
    openId: newId('rnd'),
    transactionId: newId('bet'),
    grantId: newId('grt'),
    stopId: newId('stp'),
    stoppedId: 'nobody who was stopped',
    sealedSeed: ids.sealedSeed,
    nonce: 7,
    refusedId: newId('bet'),
  },
  folder: new URL('../../src/storage/', import.meta.url),
  stores: {
    createCommitmentsStore: table(commitments, {
      after: scoped(async (scope, ids) => (await commitments.after(sequenceIn(scope, ids), last, now)).nonce),
      list: scoped((scope, ids) => commitments.list(sequenceIn(scope, ids), { last, below: null, max: 10 })),
      make: internal('open-intent.ts and repair-lost-rounds.ts; reaches no database'),
      resealed: internal('open-intent.ts, with a commitment of `after`; reaches no database'),
      open: scoped((scope, ids) => commitments.open(sequenceIn(scope, ids), ids.nonce, ids.sealedSeed)),
    }),
    createGamesStore: table(games, {
      copy: accountWide(({ operatorId }) => games.copy(operatorId, game)),
      settings: accountWide(({ operatorId }) => games.settings(operatorId, game)),
      change: accountWide(({ operatorId }) =>
        games.change(operatorId, game, { enabled: undefined, limits: [] }, later, entryOf),
      ),
      changeSeen: accountWide(({ operatorId }) =>
        games.changeSeen(
          ...([operatorId, game, { enabled: false, limits: [] }] as const),
          ...([{ version: 1, approvalId: 'apr_1' }, later, entryOf] as const),
        ),
      ),
      status: internal('games/wing.ts; the status is of the platform, the same for every account'),
      setStatus: internal('games/wing.ts for the call `opsSetGame` alone, which the gateway does not make'),
      takeDown: internal('returns/wing.ts, for an alarm; the status is of the platform'),
      bringBack: internal('returns/wing.ts for the call `opsLiftReturnAlarm` alone; of the platform'),
    }),
    createGrantsStore: table(grants, {
      insert: internal('free-bets.ts; scope of the caller, id ours or claimed under a key of that scope'),
      find: scoped((scope, { grantId }) => grants.find(scope, grantId)),
      findReferenced: scoped((scope, { grantId }) => grants.findReferenced(scope, grantId)),
      open: scoped((scope, { playerId }) => grants.open(scope, { playerId, game, currency }, now)),
      use: scoped((scope, { grantId, openId }) => grants.use(scope, grantId, openId, now)),
      giveBack: scoped((scope, { grantId, openId }) => grants.giveBack(scope, grantId, openId)),
      cancel: scoped((scope, { grantId }) => grants.cancel(scope, grantId, later)),
      list: scoped((scope, { playerId }) => grants.list(scope, { playerId }, { ...page, now })),
    }),
    createPacesStore: table(paces, {
      last: scoped((scope, { playerId }) => paces.last(scope, playerId)),
      start: scoped((scope, { playerId }) =>
        paces.start(
          scope,
          playerId,
          { startedAt: atPresent, startedBy: 'dice/another' },
          { madeAt: atPresent, notAfter: dayStart },
        ),
      ),
    }),
    createPlayerLimitsStore: table(playerLimits, {
      find: scoped((scope, { playerId }) => playerLimits.find(scope, playerId)),
      exists: scoped((scope, { playerId }) => playerLimits.exists(scope, playerId)),
      begin: internal('player-limits.ts; the scope is the caller’s'),
      set: scoped((scope, { playerId }) =>
        playerLimits.set(scope, playerId, 1, { limits: [], changes: [] }, entryOf()),
      ),
      keep: scoped((scope, { playerId }) => playerLimits.keep(scope, playerId, 1, { charges: [], sums: [] })),
    }),
    createReceiptsStore: table(receipts, {
      keep: internal('receipts/wing.ts, for a round that its player was found to have'),
      find: scoped((scope, { openId }) => receipts.find(scope, openId)),
    }),
    createLostRounds: table(lost, {
      withoutRound: scoped(
        async (scope, { transactionId }) => (await lost.withoutRound(scope, [transactionId])).length,
      ),
      findRecent: scoped((scope, ids) => lost.findRecent(sequenceIn(scope, ids), ids.openId)),
      nonceIsFree: scoped((scope, ids) => lost.nonceIsFree(sequenceIn(scope, ids), 1)),
      hasPlace: internal(byOperations),
      placesHeld: scoped((scope, ids) => lost.placesHeld(sequenceIn(scope, ids), { from: 1, to: 9 })),
      skipTo: internal(byOperations),
      skipNext: internal(byOperations),
    }),
    createReportPlayers: table(players, {
      record: internal('reports-store.ts, with facts of entries, each under the scope of its own round'),
      distinct: scoped(async (scope) => [
        await players.distinct(window(scope, 'day', dayOf(dayStart), dayOf(dayEnd)), new Set(['game'])),
        await players.distinct(
          window(scope, 'month', monthOf(dayStart), monthOf(nextMonth)),
          new Set(['game']),
        ),
      ]),
    }),
    createReportAdjustments: table(adjustments, {
      record: internal('reports-store.ts, with facts of entries, each under the scope of its own round'),
      within: scoped((scope) => adjustments.within(scope, 'at', dayStart, dayEnd)),
      restated: scoped((scope) => adjustments.restated(scope, dayStart, dayEnd)),
    }),
    createReportsStore: table(reports, {
      fold: internal('rounds-journal.ts, with facts of entries, each under the scope of its own round'),
      read: scoped(async (scope) => [
        await reports.read(scope, { grain: 'day', from: dayStart, to: dayEnd }, new Set(['game'])),
        await reports.read(scope, { grain: 'raw', from: dayStart, to: dayEnd }, new Set(['game'])),
      ]),
      restated: scoped((scope) => reports.restated(scope, dayStart, dayEnd)),
    }),
    createReturnsStore: table(returns, {
      list: scoped((scope) => returns.list(scopeKey(scope), {}, { after: null, max: 10 })),
      findDue: internal('returns/wing.ts, a worker; over every account'),
      keepAlarm: internal('returns/wing.ts, with a stream of `findDue`'),
      markTold: internal('returns/wing.ts, with a stream of `findDue`'),
      listAlarms: internal('returns/wing.ts for the call `opsListReturnAlarms` alone, of operations'),
      findAlarm: internal('returns/wing.ts for the call `opsLiftReturnAlarm` alone, of operations'),
      holdsDown: internal('returns/wing.ts, for an order of operations; answers no record'),
      countOpen: internal('metrics.ts; answers a number'),
      lift: internal('returns/wing.ts for the call `opsLiftReturnAlarm` alone, of operations'),
      restart: internal('returns/wing.ts, with the stream of an alarm that operations lift'),
    }),
    createRoundLists: table(lists, {
      show: internal(byJournal),
      newDocuments: internal(byJournal),
      listedStatus: internal('rounds-store.ts, of a round that it has answered; reaches no database'),
      confirmPrimary: internal('settle-movement.ts; it reads and changes nothing'),
      find: internal('rounds-store.ts, which holds the scope of what it finds against the caller’s'),
      withIds: scoped((scope, { openId }) => lists.withIds(scope, [openId])),
      unowned: internal(byJournal),
      last: scoped((scope, ids) => lists.last(sequenceIn(scope, ids))),
      hasNonce: scoped((scope, ids) => lists.hasNonce(sequenceIn(scope, ids), 6)),
      withMovements: scoped((scope, { transactionId }) => lists.withMovements(scope, [transactionId])),
      openedBy: scoped((scope, ids) => lists.openedBy(scope, sequenceIn(scope, ids), 'page-1')),
      between: internal('rounds-store.ts for the call `opsRoundsBetween` of operations'),
      list: scoped((scope, { playerId }) => lists.list(scope, { playerId }, page)),
      listSequence: scoped((scope, ids) =>
        lists.listSequence(sequenceIn(scope, ids), { below: null, max: 10 }),
      ),
      olderPlaces: internal(byStore),
      listSums: scoped((scope, { playerId }) => lists.listSums(scope, playerId, { from: dayStart, max: 10 })),
      endedSince: internal('read-rounds.ts for calls of operations, which the gateway does not make'),
      countUnfinished: scoped((scope) => lists.countUnfinished(scope)),
      unfinished: internal('the call `opsRoundsStatus` of operations: a count over all accounts'),
    }),
    createRoundsStore: table(rounds, {
      insert: internal('round-actor.ts, with a round of newRound: scope of its session, id ours'),
      update: internal(byActor),
      withdrawMovement: internal(byActor),
      killRequest: scoped((scope, ids) => rounds.killRequest(sequenceIn(scope, ids), ids.refusedId, killed)),
      killMovement: scoped((scope, ids) => rounds.killMovement(scope, ids.refusedId, killedMovement)),
      remove: internal('place-stake.ts and free-bets.ts, with a round that this request has opened or found'),
      claim: internal(
        'recover-round.ts, of `findDue` or `findAnywhere`; void-round.ts, of `find` with a scope',
      ),
      takeOver: internal(byJournal),
      hasAskerExited: internal('settle-round.ts, of a round that it has claimed'),
      takeIn: internal('upgrade-storage.ts, with what an earlier release has left unfinished'),
      find: scoped((scope, { openId }) => rounds.find(scope, openId)),
      findAnywhere: internal(
        'the call `opsShowRound` of operations; recover-round.ts, which answers no caller',
      ),
      findClaimed: internal('dead-ids.ts, with a key of the caller’s own scope'),
      between: internal('the call `opsRoundsBetween` of operations, who see every account'),
      findUnfinished: scoped((scope, ids) => rounds.findUnfinished(sequenceIn(scope, ids))),
      findRequest: scoped((scope, ids) => rounds.findRequest(scope, sequenceIn(scope, ids), ids.refusedId)),
      listByTransaction: scoped((scope, ids) => rounds.listByTransaction(scope, ids.transactionId)),
      endedSince: internal('read-rounds.ts for calls of operations, which the gateway does not make'),
      confirmPrimary: internal('settle-movement.ts; it reads and changes nothing'),
      showUndone: internal(byOperations),
      findLast: scoped((scope, ids) => rounds.findLast(sequenceIn(scope, ids))),
      last: scoped((scope, ids) => rounds.last(sequenceIn(scope, ids))),
      lastShown: scoped((scope, ids) => rounds.lastShown(sequenceIn(scope, ids))),
      readNonce: scoped((scope, ids) => rounds.readNonce(sequenceIn(scope, ids), null)),
      publishAgain: internal('tell-end-again.ts for a call of operations'),
      postpone: internal('recover-round.ts, with a round that it has claimed'),
      findDue: internal(
        'recover-round.ts for the sweeper, which works for all accounts and answers no caller',
      ),
      endSession: scoped((scope, ids) => rounds.endSession(sequenceIn(scope, ids), ids.sessionId, now, now)),
      show: internal('show-first.ts, of a round that the caller is about to be answered'),
      list: scoped(async (scope, { playerId }) => [
        await rounds.list(scope, { playerId }, page),
        await rounds.list(scope, { status: 'PENDING' }, page),
        await rounds.list(scope, { clientTransactionId: 'page-1' }, page),
      ]),
      listSequence: scoped((scope, ids) =>
        rounds.listSequence(sequenceIn(scope, ids), { below: null, max: 10 }),
      ),
      listSums: scoped((scope, { playerId }) =>
        rounds.listSums(scope, playerId, { from: dayStart, max: 10 }),
      ),
      charged: scoped((scope, { openId }) => rounds.charged(scope, [openId])),
      countUnfinished: scoped((scope) => rounds.countUnfinished(scope)),
      unfinished: internal(
        'the call `opsRoundsStatus` of operations and metrics.ts: a count over all accounts',
      ),
    }),
    createSpendsStore: table(spends, {
      of: scoped((scope, { sessionId }) => spends.of(scope, sessionId)),
    }),
    createStopsStore: table(stops, {
      current: scoped((scope, { playerId }) => stops.current(scope, playerId)),
      begin: internal('player-stops.ts; scope of the caller, id ours'),
      extend: scoped((scope, { stopId }) =>
        stops.extend(scope, stopId, { reason: 'longer', until: dayEnd, endsAt: dayEnd }, now, null),
      ),
      lift: scoped((scope, { playerId }) => stops.lift(scope, playerId, now, 'over', null)),
      list: scoped((scope, { playerId }) => stops.list(scope, playerId, page)),
      findDue: internal('player-stops.ts for the worker, which works for all accounts and answers no caller'),
      postpone: internal('player-stops.ts, with a stop of `findDue`'),
      settle: internal('player-stops.ts, with a stop of `findDue`'),
      findUnsigned: internal(
        'sign-stops.ts for the worker, which works for all accounts and answers no caller',
      ),
      keepRecord: internal('sign-stops.ts, with a stop of `findUnsigned`'),
      keepSignature: internal('sign-stops.ts, with a stop of `findUnsigned`'),
    }),
    createSessionsStore: table(sessions, {
      show: internal('rounds-journal.ts, with the session of an entry'),
      insert: internal('sessions.ts; scope of the caller, id ours or claimed under a key of that scope'),
      find: scoped((scope, { sessionId }) => sessions.find(scope, sessionId)),
      close: scoped((scope, { sessionId }) => sessions.close(scope, sessionId, later)),
      stopAll: scoped((scope, { playerId, stopId }) =>
        sessions.stopAll(scope, playerId, { id: stopId, endsAt: dayEnd }, now),
      ),
      forgetStop: scoped((scope, { stoppedId, stopId }) => sessions.forgetStop(scope, stoppedId, stopId)),
      markLimited: scoped((scope, { playerId }) => sessions.markLimited(scope, playerId, now)),
      timesOf: scoped((scope, { playerId }) => sessions.timesOf(scope, playerId, dayStart)),
      keepRealityCheck: scoped((scope, { sessionId }) => sessions.keepRealityCheck(scope, sessionId, now)),
      list: scoped((scope, { playerId }) => sessions.list(scope, { playerId }, { ...page, now })),
      eraseDetails: scoped((scope, { playerId }) => sessions.eraseDetails(scope, playerId, dayEnd)),
      countDetails: scoped(async (scope, { playerId }) => {
        const { ended, all } = await sessions.countDetails(scope, playerId, dayEnd)
        return ended + all
      }),
      currenciesInUse: accountWide(({ operatorId }) => sessions.currenciesInUse(operatorId, now)),
    }),
  },
  others: [
    ...['pageFilter', 'playedIn', 'roundOf', 'sequenceKey', 'sequenceOf', 'openedByPage'],
    ...['encodeRound', 'decodeRound', 'decodeMinor', 'fieldsOf', 'stakeRangeOf', 'receiptBinding'],
    ...[
      'streamState',
      'loadedState',
      'askerOf',
      'streamOf',
      'placeStream',
      'isPlaceStream',
      'isStreamOf',
      'deadStream',
    ],
    ...['bookRange', 'bookKey', 'requestKey', 'movementKey', 'besideTombstoneKey'],
    ...['claimsOfEntry', 'claimsOfFact', 'addedMovements', 'countedEntries', 'appendTo'],
    // Over every account, at the start or by a clock.
    ...[
      'createShownRounds',
      'foldUnits',
      'openRounds',
      'wireRounds',
      'upgradeStorage',
      'createRoundWork',
      'assertSeedsOpen',
      'sealedInJournal',
      'openSession',
      'sessionStream',
      'IdTaken',
    ],
    ...['revenueOf', 'createReturnsFold', 'newStreamDocument'],
    // Bound by createRoundsStore, whose table has a line for each that answers a caller.
    ...['insertRound', 'updateRound', 'withdrawMovement', 'removeRound', 'publishAgain', 'showRound'],
    ...['killRequest', 'killMovement'],
    ...['findRound', 'findAnywhere', 'findClaimed', 'findRequest', 'listByTransaction', 'roundsOf'],
    ...['lastNonce', 'lastShown', 'findLast', 'findUnfinished', 'readNonce', 'endSession'],
    ...['claimRound', 'takeOver', 'takeIn', 'postpone', 'findDue', 'hasAskerExited'],
    ...['readRound', 'readState', 'storedOf', 'currentOf'],
    ...['noteRound', 'goOn', 'meet', 'rememberEnd', 'deadline', 'unanswered'],
  ],
})

function storesOf(db: Db) {
  const secretBox = createSecretBox(parseKeyring(`k1:${randomBytes(32).toString('base64')}`), 'server-seeds')
  const seeds = { newSeed: () => randomBytes(32).toString('hex'), hashSeed: (seed: string) => seed }
  const journal = testJournal(db)
  const lists = createRoundLists({ db })
  const rounds = createRoundsStore({ journal, lists, work: createRoundWork() })
  const commitments = createCommitmentsStore({ db, secretBox, journal: journal.journal, ...seeds })
  const sessions: SessionsStore = createSessionsStore({
    db,
    async open(session, event) {
      const isNew = await openSession(journal, session, event)
      await sessions.show(session)
      return isNew
    },
  })
  return {
    ...{ rounds, lists, journal, commitments },
    games: createGamesStore({ db, copies: exactReads }),
    grants: createGrantsStore({ db }),
    lost: createLostRounds({ journal, lists, rounds, commitments }),
    paces: createPacesStore({ db }),
    playerLimits: createPlayerLimitsStore({ db }),
    players: createReportPlayers({ db }),
    receipts: createReceiptsStore({ db, secretBox }),
    adjustments: createReportAdjustments({ db }),
    reports: createReportsStore({ db }),
    returns: createReturnsStore({ db }),
    sessions,
    spends: createSpendsStore({ db }),
    stops: createStopsStore({ db }),
  }
}

/**
 * A session of the owner with a round that is over and counted, one that is played, and a grant that this one
 * uses.
 */
async function makeThings() {
  const {
    adjustments,
    commitments,
    games,
    grants,
    paces,
    playerLimits,
    receipts,
    journal,
    lists,
    lost,
    rounds,
    sessions,
    stops,
  } = stores
  const playerId = 'player-of-the-owner'
  const scope = scopeKey(owner)
  const sequence = sequenceKey(owner, game, playerId)
  const opened = {
    _id: newId('ses'),
    scope,
    ...owner,
    ...{ playerId, game, currency, brandId: null, language: null, country: 'DE', returnUrl: null },
    ...{ metadata: [], limits: null, createdAt: now, expiresAt: dayEnd, closedAt: null },
  }
  const event = renderEvent({
    id: newId('evt'),
    type: 'session.created',
    createdAt: now,
    scope: owner,
    data: {},
  })
  const session = await sessions.insert(opened, event)
  const begun = async (nonce: number) =>
    newRound({
      ...{
        session,
        driver: 'game',
        gameId: randomUUID(),
        clientSeed: null,
        bet: null,
        stake: 100n,
        maxPayout: 200n,
      },
      ...{ grantId: null, requestHash: '', clientTransactionId: null, now, newId },
      commitment: await commitments.after(sequence, { nonce: nonce - 1, unfinished: false, next: null }, now),
      newUuid: randomUUID,
    })
  const fact: FactEntry = {
    ...{ rounds: 1, stakes: '100', payouts: '0', refunds: '0' },
    ...{ id: newId('fct'), trials: { from: 0, to: 1, rules: '1' } },
  }
  const bet = { target: '49.50', direction: 'under' }
  const drawn = { bet, outcome: { ...bet, roll: '07.00', won: true }, clientTransactionId: 'page-1' }
  const over = { ...(await begun(1)), ...drawn, status: 'SETTLED', started: true, completedAt: now } as const
  const store = async (round: typeof over | Awaited<ReturnType<typeof begun>>, dueAt: Date | null) => {
    const committed = { committedAt: now, next: commitments.make(sequence, round.nonce + 1, now) }
    const stored = await rounds.insert({ round, dueAt }, committed)
    const entries = stored === null ? [] : await journal.journal.store.readEntries(stored.stream)
    await lists.show(streamState(entries))
  }
  await store(over, null)
  await beginInstance(shardedRounds(db))
  await countFacts(shardedRounds(db), [{ fact, round: encodeRound(over) }])
  const changed = { stakes: 0n, payouts: 1n, refunds: 0n }
  const place = { scope, game, currency, brandId: null, playerId, round: over.id }
  const adjusted = { ...changed, endedAt: now }
  await adjustments.record(
    [now, dayEnd].map((at) => ({
      ...{ ...place, ...changed, id: newId('fct'), rounds: 0, adjustments: -1n, at, adjusted },
    })),
  )
  await lost.skipTo(sequence, 5, { ...over, clientTransactionId: null })
  const asked = await begun(6)
  const open = { ...asked, stakes: asked.stakes.map((stake) => ({ ...stake, state: 'TAKEN' as const })) }
  await store(open, later)
  const grantId = newId('grt')
  await grants.insert({
    ...{
      _id: grantId,
      scope,
      environment: owner.environment,
      playerId,
      game,
      currency,
      stake: '100',
      count: 2,
      reference: grantId,
    },
    ...{ remaining: 2, uses: [], createdAt: now, endsAt: dayEnd, expiresAt: null, cancelledAt: null },
  })
  await grants.use(owner, grantId, open.id, now)
  const stopId = newId('stp')
  const stop = {
    reason: 'a test',
    from: now,
    until: later,
    endsAt: later,
    dueAt: now,
    inForce: true,
  } as const
  const unsettled = { liftedAt: null, liftReason: null, roundsEndedAt: null, lastBet: null }
  await stops.begin({ _id: stopId, scope, ...owner, playerId, ...stop, ...unsettled }, null)
  const stoppedId = 'stopped-player-of-the-owner'
  await sessions.insert({ ...opened, _id: newId('ses'), playerId: stoppedId }, event)
  await sessions.stopAll(owner, stoppedId, { id: stopId, endsAt: later }, now)
  await paces.start(
    owner,
    playerId,
    { startedAt: atPresent, startedBy: 'dice/first' },
    { madeAt: atPresent, notAfter: dayStart },
  )
  await playerLimits.begin(owner, playerId)
  const shown = { build: 'dice-1.js', language: 'en', text_version: 1, text: 'Rolled', hash: '0'.repeat(64) }
  const judged = {
    state: 'UNCHECKED',
    reason: 'language',
    received_at: now.toISOString(),
    expected: null,
  } as const
  await receipts.keep(owner, open.id, { ...shown, ...judged })
  await games.change(owner.operatorId, game, { enabled: false, limits: [] }, now, entryOf)
  const refusedId = newId('bet')
  await rounds.killRequest(sequence, refusedId, killed)
  await rounds.killMovement(owner, refusedId, killedMovement)
  return {
    refusedId,
    ...{ stopId, stoppedId },
    ...{ playerId, sessionId: session._id, openId: open.id, grantId, sealedSeed: open.sealedSeed, nonce: 6 },
    transactionId: open.stakes[0]?.transactionId ?? '',
  }
}
