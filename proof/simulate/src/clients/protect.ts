import { answerRealityCheck } from '@pitboss/contracts/endpoints/play'
import { liftStop, stopPlayer } from '@pitboss/contracts/endpoints/players'
import { createSession } from '@pitboss/contracts/endpoints/sessions'
import type { SessionDocument } from '@pitboss/rounds/storage/sessions-store'
import { type Answer, codeOf } from '@pitboss/chaos/send'
import { startGapMs } from '../check-protection.ts'
import { scope } from '../world.ts'
import { callerOf, type ClientDeps, createClient, operator } from './client.ts'

/** How long a stop that ends lasts: some end while the player still plays. */
const stopMs = { least: 1000, most: 8000 }
/** Rest before a stop, and before a stop without an end is lifted. */
const stopAfterMs = { least: 500, most: 6000 }
const liftAfterMs = { least: 300, most: 5000 }
/** How long after the first instant at which a game may start the page starts one. */
const startWithinMs = 30

/**
 * The operator stops a player, for a while or until the stop is lifted, and sometimes again before it has
 * ended.
 */
export async function stopAtTimes(deps: ClientDeps, playerId: string): Promise<void> {
  const { random, world } = deps
  const { bus, ask, rest, isOver } = createClient(deps)
  const request = { caller: operator, params: { player_id: playerId }, query: {} }

  while (!isOver()) {
    await rest(stopAfterMs.least, stopAfterMs.most)
    const ends = random.chance(0.6)
    const untilMs = world.timeline.nowMs() + random.between(stopMs.least, stopMs.most)
    const until = ends ? { until: new Date(untilMs).toISOString() } : {}
    const body = { reason: 'simulated', ...until }
    await ask({ what: 'session', id: null, asked: { stop: playerId, ...body } }, (context) =>
      bus.call(stopPlayer.call, { ...request, body }, context),
    )
    if (ends && random.chance(0.7)) continue
    await rest(liftAfterMs.least, liftAfterMs.most)
    const lifted = { reason: 'simulated' }
    await ask({ what: 'session', id: null, asked: { lift: playerId } }, (context) =>
      bus.call(liftStop.call, { ...request, body: lifted }, context),
    )
  }
}

/**
 * Creates what a protected player's page does after each stake: it answers a reality check that is due, waits
 * when a game started too early until the next one may, and the operator opens another session in the place of
 * one that is closed.
 */
export function createGoOn(deps: ClientDeps) {
  const { random, world } = deps
  const { timeline } = world
  const { bus, ask } = createClient(deps)

  return async function goOn(session: SessionDocument, answer: Answer): Promise<SessionDocument> {
    if (codeOf(answer) === 'CONFLICT') await answerCheck(session)
    if (codeOf(answer) === 'RATE_LIMITED') {
      // The pages of all games count down to the same instant.
      const waitMs = world.protection.lastStartMs(scope, session.playerId) + startGapMs - timeline.nowMs()
      await timeline.wait(Math.max(0, waitMs) + random.between(0, startWithinMs))
    }
    const now = world.sessions.table.get(session._id)
    return now === undefined || now.closedAt === null ? session : reopen(now)
  }

  async function answerCheck({ _id }: SessionDocument): Promise<void> {
    const body = { choice: random.chance(0.8) ? 'continue' : 'stop' } as const
    const caller = callerOf({ kind: 'session', session_id: _id })
    await ask({ what: 'session', id: _id, asked: body }, (context) =>
      bus.call(answerRealityCheck.call, { caller, params: {}, query: {}, body }, context),
    )
  }

  /** The session in which the player goes on: the same one while no other can be opened. */
  async function reopen(session: SessionDocument): Promise<SessionDocument> {
    const { playerId, game, currency, brandId: brand, jurisdiction, realityCheckS, stakeCap } = session
    const rules =
      jurisdiction === undefined ? {} : { jurisdiction, reality_check_s: realityCheckS, stake_cap: stakeCap }
    const branded = brand === null ? {} : { brand }
    const body = { player_id: playerId, game, currency, expires_in_s: 3600, ...branded, ...rules }
    const answer = await ask({ what: 'session', id: null, asked: { open: playerId, brand } }, (context) =>
      bus.call(createSession.call, { caller: operator, params: {}, query: {}, body }, context),
    )
    return world.sessions.table.get(String(answer.body.session_id)) ?? session
  }
}
