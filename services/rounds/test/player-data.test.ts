import { opsErasePlayer, opsPlayerData, type playerDataKind } from '@pitboss/contracts/calls/rounds'
import { createFreeBet } from '@pitboss/contracts/endpoints/rounds'
import { putLimits } from '@pitboss/contracts/endpoints/players'
import * as sessions from '@pitboss/contracts/endpoints/sessions'
import { readEntries } from '@pitboss/testing/stored-entries'
import t from 'tap'
import type { z } from 'zod'
import { sessionStream } from '../src/storage/sessions-store.ts'
import { type Rig, startRig } from './fixtures/rounds-rig.ts'

const order = { by: 'ops', reason: 'the player asked', dryRun: false }
const dayMs = 24 * 60 * 60 * 1000
const details = {
  country: 'DE',
  language: 'de',
  return_url: 'https://casino.example/lobby',
  metadata: { affiliate: 'somebody' },
}
const erased = { country: null, language: null, return_url: null, metadata: {} }
let aheadMs = 0
const clock = { now: () => new Date(Date.now() + aheadMs) }
const rig: Rig = await startRig(t, { clock })

async function exported(playerId: string, kind: z.infer<typeof playerDataKind>) {
  const records: Record<string, unknown>[] = []
  for (let before: string | null = null; ; ) {
    const page: z.infer<typeof opsPlayerData.reply> = await rig.bus.call(opsPlayerData, {
      ...{ scope: rig.scope, playerId, kind, before },
    })
    records.push(...page.data)
    before = page.next
    if (before === null) return records
  }
}
const erase = (playerId: string, more = {}) =>
  rig.bus.call(opsErasePlayer, { order: { ...order, ...more }, scope: rig.scope, playerId })
async function shown(session_id: string) {
  const request = { caller: rig.caller(), params: { session_id }, query: {}, body: undefined }
  return (await rig.bus.call(sessions.getSession.call, request)).body
}

t.test('an export has every record of the player, page after page, and nobody else’s', async (t) => {
  const player_id = 'plays a lot'
  const session = await rig.openSession({ player_id, ...details })
  const many = 103
  for (let one = 0; one < many; one++) await rig.play(session)
  await rig.bus.call(createFreeBet.call, {
    ...{ caller: rig.caller(), params: {}, query: {} },
    body: { player_id, game: 'dice', currency: 'USD', stake: '1.00', count: 4 },
  })
  await rig.play(await rig.openSession({ player_id: 'somebody else' }))

  t.match(await exported(player_id, 'session'), [{ session_id: session.session_id, ...details }])
  const rounds = await exported(player_id, 'round')
  t.equal(new Set(rounds.map(({ round_id }) => round_id)).size, many)
  t.match(rounds[0], { player_id, fairness: { nonce: many }, stake: '1.00' })
  t.match(await exported(player_id, 'free_bet'), [{ player_id, count: 4 }])
  await rig.bus.call(putLimits.call, {
    ...{ caller: rig.caller(), params: { player_id }, query: {} },
    body: { limits: [{ kind: 'time', period: 'day', minutes: 60 }] },
  })
  t.match(await exported(player_id, 'limits'), [{ player_id, limits: [{ minutes: 60 }] }])
  for (const kind of ['round', 'limits'] as const) t.strictSame(await exported('nobody', kind), [])
})

t.test('an erasure takes what no money record and no proof needs, a day after the end', async (t) => {
  const player_id = 'wants to be forgotten'
  const session = await rig.openSession({ player_id, ...details, expires_in_s: 60 })
  const other = await rig.openSession({ player_id: 'stays', ...details, expires_in_s: 60 })
  const round = await rig.play(session)
  t.strictSame(await erase(player_id), { erased: 0, kept: 1 }, 'the session has not ended')
  aheadMs = dayMs
  t.strictSame(await erase(player_id), { erased: 0, kept: 1 }, 'it ended less than a day ago')

  aheadMs = dayMs + 120_000
  t.strictSame(await erase(player_id, { dryRun: true }), { erased: 1, kept: 0 })
  t.match(await shown(session.session_id), details, 'a dry run changes nothing')
  const later = await rig.openSession({ player_id, ...details })
  t.strictSame(await erase(player_id), { erased: 1, kept: 1 })
  t.match(await shown(session.session_id), { ...erased, player_id, status: 'EXPIRED' })
  const entry = await readEntries(rig.storage.db, sessionStream(rig.scope, session.session_id))
  t.match(entry, [{ f: [{ session: { country: null, language: null, returnUrl: null, metadata: [] } }] }])
  t.match(entry[0]?.ev, [{ body: session.session_id }], 'its event stays')
  t.match(await shown(later.session_id), details, 'a session that goes on keeps them')
  t.match(await shown(other.session_id), details, 'of another player')
  t.strictSame((await rig.round(round.round_id)).fairness, round.fairness, 'rounds stay as they are')
  t.strictSame(await erase(player_id), { erased: 0, kept: 1 }, 'again, nothing is left to erase')
})
