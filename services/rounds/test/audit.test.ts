import {
  movementsRewind,
  opsEndRoundAsTold,
  opsErasePlayer,
  opsHealOrphan,
  opsLiftReturnAlarm,
  opsResolveOwed,
  opsSetGame,
  opsSetGameLimits,
  opsSkipNonces,
} from '@pitboss/contracts/calls/rounds'
import {
  dashboardLiftStop,
  dashboardPutLimits,
  dashboardStopPlayer,
  putLimits,
} from '@pitboss/contracts/endpoints/players'
import { dashboardCancelFreeBet, dashboardCreateFreeBet } from '@pitboss/contracts/endpoints/rounds'
import { actedBy } from '@pitboss/contracts/audit'
import { doApproved } from '@pitboss/contracts/calls/approvals'
import { dashboardCloseSession, dashboardPatchGame, patchGame } from '@pitboss/contracts/endpoints/sessions'
import { newId } from '@pitboss/runtime/new-id'
import { loseRounds } from '@pitboss/testing/lose-rounds'
import { holdAudit } from '@pitboss/testing/hold-audit'
import { serveApprovals } from '@pitboss/testing/serve-approvals'
import { serveAuditLog } from '@pitboss/testing/serve-audit-log'
import { pino } from 'pino'
import t from 'tap'
import { createReturnsStore, newStreamDocument } from '../src/wings/returns/storage/returns-store.ts'
import { storedRounds } from './fixtures/stored-rounds.ts'
import { act, cashOut, safeTile, startRig } from './fixtures/rounds-rig.ts'

const rig = await startRig(t)
const log = await serveAuditLog(t, rig.bus, pino({ level: 'silent' }))
const approvals = await serveApprovals(t, rig.bus, pino({ level: 'silent' }))
const { operatorId } = rig.scope
const order = { by: 'ann', reason: 'restored', dryRun: false }
const byOperations = { actor: { kind: 'operations', id: 'ann' }, operatorId: null } as const
const person = {
  kind: 'user',
  user_id: 'usr_01jd5r7mq8v3k9x2c4n6p0s1tw',
  email: 'a@b.example',
  role: 'ADMIN',
} as const
const key = { kind: 'credential', api_key: 'ck_test_1', scopes: [] as string[] } as const
const limits = [{ currency: 'USD', min_stake: '1.00', max_stake: '2.00' }]
const none = { query: {}, body: undefined }
const at = { params: { slug: 'dice' }, query: {} }

const grant = (idempotencyKey: string) =>
  rig.bus.call(dashboardCreateFreeBet.call, {
    ...{ params: {}, query: {}, caller: rig.caller({ actor: person, idempotencyKey }) },
    body: { player_id: 'guest', game: 'spin-bottle', currency: 'USD', stake: '1.00', count: 3 },
  })

const stopOf = (player_id: string) => ({
  ...{ params: { player_id }, query: {}, caller: rig.caller({ actor: person }) },
  body: { reason: 'self-exclusion' },
})

/** Keeps an alarm of the draws of dice; answers its id. */
async function makeAlarm(): Promise<string> {
  const place = { share: 'installation', scope: '*/SANDBOX', currency: null, game: 'dice' } as const
  const draws = { rules: '1', shape: 'draws', win: null, outcomes: 20, outcome: 0, staked: 0n, paid: 0n }
  const stream = newStreamDocument({ ...place, ...draws }, 1, new Date())
  const alarm = { _id: 'ral_audited', game: 'dice', open: true, stream, rule: 'tell' } as const
  const open = { raisedAt: new Date(), liftedAt: null, liftedBy: null, liftReason: null }
  await createReturnsStore(rig.storage).keepAlarm({ ...alarm, ...open })
  return alarm._id
}

await holdAudit(t, {
  service: 'rounds',
  entries: async () => log,
  cases: {
    'rounds.v1.game.change': {
      ...{ act: 'game.change', actor: { kind: 'service', id: 'ck_test_1' }, operatorId },
      run: async () => {
        await rig.bus.call(patchGame.call, { ...at, caller: rig.caller({ actor: key }), body: { limits } })
        return []
      },
    },
    'rounds.v1.game.change-for-dashboard': {
      ...{ act: 'game.change', actor: { kind: 'user', id: person.user_id }, operatorId },
      run: async () => {
        const caller = rig.caller({ actor: person })
        await rig.bus.call(dashboardPatchGame.call, { ...at, caller, body: { enabled: false } })
        return []
      },
    },
    'rounds.v1.game.change-approved': {
      ...{ act: 'game.change', actor: { kind: 'user', id: person.user_id }, operatorId },
      run: async () => {
        const caller = rig.caller({ actor: person })
        const approval = { approval_id: newId('apr'), user_id: newId('usr'), email: 'second@casino.example' }
        const order = { act: 'game.change', slug: 'mines', patch: { limits } } as const
        const by = { ...actedBy(caller, { requestId: 'req_asked' }), approval }
        const request = { order, seen: '0', by, account: caller.account }
        approvals.give({ order, seen: '0', by })
        for (const _again of [1, 2]) await rig.bus.call(doApproved.game, request)
        return []
      },
    },
    'rounds.v1.session.close-for-dashboard': {
      ...{ act: 'game-session.close', actor: { kind: 'user', id: person.user_id }, operatorId },
      run: async () => {
        const { session_id } = await rig.openSession({ game: 'spin-bottle' })
        const request = { ...none, params: { session_id }, caller: rig.caller({ actor: person }) }
        for (const _again of [1, 2]) await rig.bus.call(dashboardCloseSession.call, request)
        return []
      },
    },
    'rounds.v1.player.stop-for-dashboard': {
      ...{ act: 'player.stop', actor: { kind: 'user', id: person.user_id }, operatorId },
      run: async () => {
        for (const _again of [1, 2]) await rig.bus.call(dashboardStopPlayer.call, stopOf('stopped'))
        return []
      },
    },
    'rounds.v1.player.lift-stop-for-dashboard': {
      ...{ act: 'player.lift-stop', actor: { kind: 'user', id: person.user_id }, operatorId },
      run: async () => {
        await rig.bus.call(dashboardStopPlayer.call, stopOf('lifted'))
        for (const _again of [1, 2]) await rig.bus.call(dashboardLiftStop.call, stopOf('lifted'))
        return []
      },
    },
    'rounds.v1.player.put-limits': {
      ...{ act: 'player.set-limits', actor: { kind: 'service', id: 'ck_test_1' }, operatorId },
      run: async () => {
        const limits = [{ kind: 'time', period: 'day', minutes: 60 }] as const
        const request = { ...stopOf('limited by a server'), body: { limits: [...limits] } }
        await rig.bus.call(putLimits.call, { ...request, caller: rig.caller({ actor: key }) })
        return []
      },
    },
    'rounds.v1.player.put-limits-for-dashboard': {
      ...{ act: 'player.set-limits', actor: { kind: 'user', id: person.user_id }, operatorId },
      run: async () => {
        const limits = [{ kind: 'loss', period: 'day', currency: 'USD', amount: '5.00' }] as const
        const request = { ...stopOf('limited'), body: { limits: [...limits] } }
        for (const _again of [1, 2]) await rig.bus.call(dashboardPutLimits.call, request)
        return []
      },
    },
    'rounds.v1.free-bet.create-for-dashboard': {
      ...{ act: 'free-bet.create', actor: { kind: 'user', id: person.user_id }, operatorId },
      run: async () => {
        for (const _again of [1, 2]) await grant('granted-once')
        return []
      },
    },
    'rounds.v1.free-bet.cancel-for-dashboard': {
      ...{ act: 'free-bet.cancel', actor: { kind: 'user', id: person.user_id }, operatorId },
      run: async () => {
        const { grant_id } = (await grant('to-cancel')).body
        const request = { ...none, params: { grant_id }, caller: rig.caller({ actor: person }) }
        for (const _again of [1, 2]) await rig.bus.call(dashboardCancelFreeBet.call, request)
        return []
      },
    },
    'rounds.v1.ops.event-republish': {
      why: 'it tells lost events again and changes no record; the command records it before it begins',
    },
    'rounds.v1.ops.seal-rewrite': {
      why: 'it seals the same values anew; the command records it, once for all services and pages',
    },
    'rounds.v1.ops.round-end-as-told': {
      ...{ act: 'round.heal', ...byOperations, operatorId },
      run: async () => {
        const { round_id: roundId } = await rig.play(await rig.openSession({ game: 'mines' }))
        const { bombs } = await rig.board(roundId)
        const outcome = { tiles_opened: bombs, bomb_positions: bombs, won: false }
        const end = { status: 'SETTLED' as const, payout: '0.00', outcome, end_reason: 'loss' }
        await rig.bus.call(opsEndRoundAsTold, { order, roundId, end })
        return []
      },
    },
    'rounds.v1.ops.owed-resolve': {
      ...{ act: 'round.resolve', ...byOperations, operatorId },
      run: async () => {
        const session = await rig.openSession({ game: 'mines', player_id: 'refused' })
        const { round_id: roundId } = await rig.play(session)
        await act(rig, session, roundId, await safeTile(rig, roundId))
        rig.wallet.state.refusesWins = 'ROUND_ALREADY_SETTLED'
        await cashOut(rig, session, roundId)
        const stored = await storedRounds(rig.storage.db).find(rig.scope, roundId)
        const transactionId = stored?.round.wins[0]?.transactionId ?? ''
        await rig.bus.call(opsResolveOwed, { order, roundId, transactionId, as: 'success' })
        rig.wallet.state.refusesWins = null
        return []
      },
    },
    'rounds.v1.ops.game-set': {
      ...{ act: 'game.set', ...byOperations },
      run: async () => {
        await rig.bus.call(opsSetGame, { order, slug: 'mines', status: 'DOWN' })
        return []
      },
    },
    'rounds.v1.ops.game-limits': {
      ...{ act: 'game.set-limits', ...byOperations, operatorId },
      run: async () => {
        const limits = { max_stake: '5000.00' }
        await rig.bus.call(opsSetGameLimits, { order, operatorId, slug: 'dice', currency: 'USD', limits })
        return []
      },
    },
    'rounds.v1.ops.player-erase': {
      ...{ act: 'player.erase', ...byOperations, operatorId },
      run: async () => {
        const playerId = 'who wants to be forgotten'
        await rig.openSession({ player_id: playerId, game: 'spin-bottle', country: 'DE' })
        const longAgo = new Date(Date.now() - 2 * 86_400_000)
        await rig.storage.db.collection('sessions').updateMany({ playerId }, { $set: { expiresAt: longAgo } })
        for (const _again of [1, 2]) await rig.bus.call(opsErasePlayer, { order, scope: rig.scope, playerId })
        return []
      },
    },
    'rounds.v1.ops.return-alarm-lift': {
      ...{ act: 'return-alarm.lift', ...byOperations },
      run: async () => {
        const alarmId = await makeAlarm()
        await rig.bus.call(opsLiftReturnAlarm, { order, alarmId, keepDown: true })
        return []
      },
    },
    'rounds.v1.ops.rewind-start': {
      ...{ act: 'consumer.rewind', ...byOperations },
      run: async () => {
        await rig.bus.call(movementsRewind.start, { order, fromSeq: 1, toSeq: 2 })
        return []
      },
    },
    'rounds.v1.ops.nonces-skip': {
      ...{ act: 'round.heal', ...byOperations, operatorId },
      run: async () => {
        const lost = { round_id: 'rnd_lost', player_id: 'p', game: 'dice', currency: 'USD', nonce: 7 }
        await rig.bus.call(opsSkipNonces, { order, scope: rig.scope, rounds: [lost] })
        return []
      },
    },
    'rounds.v1.ops.orphan-heal': {
      ...{ act: 'round.heal', ...byOperations, operatorId },
      run: async () => {
        await rig.play(await rig.openSession({ game: 'spin-bottle' }))
        await loseRounds(rig.storage.db)
        const stake = rig.wallet.asked.find(({ type }) => type === 'BET')
        const transactionId = stake?.transactionId ?? ''
        await rig.bus.call(opsHealOrphan, { order, scope: rig.scope, transactionId, nonce: 1, refund: false })
        return []
      },
    },
  },
})

t.test('a change of limits tells what they were', async (t) => {
  const caller = rig.caller({ actor: person })
  await rig.bus.call(dashboardPatchGame.call, { ...at, caller, body: { enabled: true } })
  t.match(log.at(-1), {
    object: { type: 'game', id: 'dice' },
    before: { enabled: false, limits: [{ currency: 'USD', max_stake: '2.00' }] },
    after: { enabled: true },
  })
})

t.test('what people close, grant and cancel is told as it was and is', async (t) => {
  const told = (act: string) => log.filter((entry) => entry.act === act).at(-1)
  t.match(told('game-session.close'), {
    object: { type: 'game-session', id: /^ses_/ },
    before: { status: 'ACTIVE', closed_at: null },
    after: { status: 'CLOSED', closed_at: /Z$/ },
  })
  t.match(told('free-bet.create'), { before: null, after: { player_id: 'guest', stake: '1.00', count: 3 } })
  t.match(told('free-bet.cancel'), { before: { status: 'ACTIVE' }, after: { status: 'CANCELLED' } })
})

t.test('what an order has left is deleted when its record has moved', async (t) => {
  t.equal(await rig.storage.db.collection('audit_entries').countDocuments({}), 0)
})
