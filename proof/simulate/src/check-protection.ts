import { parseAmount } from '@pitboss/money/amount'
import type { RoundState } from '@pitboss/rounds/rules/round'
import type { StopDocument } from '@pitboss/rounds/wings/protection/storage/stops-store'
import type { Answers, Told } from '@pitboss/chaos/answers'
import { codeOf } from '@pitboss/chaos/send'
import { BrokenInvariant } from './check-steps.ts'
import type { ProtectedPlayer } from './protected-player.ts'
import type { World } from './world.ts'

type Tables = Pick<World, 'rounds' | 'sessions' | 'protection' | 'wallet' | 'timeline' | 'faults'>

/** docs/contract.md, section 4, "Stops" and "Jurisdictions". */
const lateStakeMs = 10_000
export const startGapMs = 5000
const capMinor = parseAmount('2.00', 'GBP')

/**
 * What stops and the rules of a jurisdiction promise, by what the clients sent and were answered, and by the
 * times of the rounds.
 * @throws BrokenInvariant
 */
export function createProtectionChecks(world: () => Tables, player: ProtectedPlayer) {
  const insertedAtMs = new Map<string, number>()
  const slackMs = () => 2 * world().faults.clockOffMs
  const holds = (name: string, is: boolean, what: () => string) => {
    if (!is) throw new BrokenInvariant(name, what())
  }
  const isPlayed = ({ driver, playerId }: RoundState) => driver === 'game' && playerId === player.playerId

  return {
    /** A round is stored for the first time. */
    roundOpened(round: RoundState): void {
      insertedAtMs.set(round.id, world().timeline.nowMs())
      if (!player.underRules || !isPlayed(round)) return
      holds(
        'no stake is greater than the cap of its session',
        round.stake <= capMinor,
        () => `${round.id} ${round.stake}`,
      )
    },

    /** The rounds of a stop are said to have ended. */
    stopSettled(stop: StopDocument): void {
      const untilMs = stop.from.getTime() + lateStakeMs - slackMs()
      const own = [...world().rounds.table.values()].flatMap(({ round }) => {
        const isOfStop = (insertedAtMs.get(round.id) ?? 0) < untilMs && round.createdAt <= endOf(stop)
        return round.driver === 'game' && round.playerId === stop.playerId && isOfStop ? [round] : []
      })
      const left = own.find(({ status }) => status === 'PENDING' || status === 'OPEN')
      holds(
        'a stop says that the rounds have ended once they have',
        left === undefined,
        () => `${stop._id}: ${left?.id} is ${left?.status}`,
      )
      const last = own.filter(({ started }) => started).toSorted((a, b) => (a.id < b.id ? 1 : -1))[0]
      holds(
        'a stop names the last bet',
        last === undefined || (stop.lastBet !== null && stop.lastBet.roundId >= last.id),
        () => `${stop._id} names ${stop.lastBet?.roundId}, ${last?.id} came later`,
      )
    },

    atEnd(answers: Answers): void {
      const { rounds, sessions, wallet } = world()
      if (player.underRules) checkPace([...rounds.table.values()].map(({ round }) => round))
      const all = answers.all()
      const firstSentAtMs = new Map<string, number>()
      for (const { id, what, sentAtMs } of all) {
        if (id === null || (what !== 'stake' && what !== 'movement')) continue
        firstSentAtMs.set(id, Math.min(firstSentAtMs.get(id) ?? sentAtMs, sentAtMs))
      }
      const firstSent = ({ id, sentAtMs }: Told) => firstSentAtMs.get(id ?? '') ?? sentAtMs
      const stops = all.flatMap((told) => stopOf(told))

      for (const told of all) {
        const { what, id, asked, answer, sentAtMs, answeredAtMs } = told
        if (typeof asked.open === 'string' && answer.status === 201) {
          const stop = stops.find(
            ({ playerId, fromMs, toMs }) =>
              playerId === asked.open && sentAtMs > fromMs && answeredAtMs < toMs,
          )
          const named = 'no session is opened for a stopped player'
          holds(named, stop === undefined, () => `${String(answer.body.session_id)} in ${stop?.id}`)
        }
        if (typeof asked.open === 'string' && codeOf(answer) === 'PLAYER_BLOCKED') {
          const isStopped = [...world().protection.stops.values()].some(
            (stop) =>
              stop.playerId === asked.open &&
              stop.from.getTime() - slackMs() <= answeredAtMs &&
              overAtMs(stop) + slackMs() >= sentAtMs,
          )
          holds('a stop ends', isStopped, () => `${String(asked.open)} is stopped at ${sentAtMs}`)
        }
        const isStake = what === 'stake' || (what === 'movement' && asked.type === 'BET')
        const isTaken = answer.status === 201 || (id !== null && wallet.ledger.byTransactionId.has(id))
        if (!isStake || !isTaken) continue
        const staker = playerOf(told)
        const stop = stops.find(
          ({ playerId, fromMs, toMs }) =>
            playerId === staker && firstSent(told) > fromMs && firstSent(told) < toMs,
        )
        holds(
          'nothing is taken from a stopped player',
          stop === undefined,
          () => `${what} ${id} ${answer.status}, sent at ${firstSent(told)}, in ${stop?.id}`,
        )
        if (what === 'stake' && answer.status === 201) checkRealityCheck(told)
      }

      /** From when on a stop refuses nothing: of one that was lifted, from the answer to that on. */
      function overAtMs(stop: StopDocument): number {
        if (stop.liftedAt === null) return stop.endsAt.getTime()
        const lifts = all.filter(
          ({ asked, answer }) => asked.lift === stop.playerId && answer.body.stop_id === stop._id,
        )
        return Math.min(...lifts.map(({ answeredAtMs }) => answeredAtMs))
      }

      /** A stop as its answer told it, which another may have moved since: nothing begins until its end. */
      function stopOf({ asked, answer, answeredAtMs }: Told) {
        const { stop_id: stopId, until } = answer.body
        const stop = world().protection.stops.get(String(stopId))
        if (asked.stop !== stop?.playerId || stop === undefined || answer.status !== 200) return []
        const toldMs = typeof until === 'string' ? Date.parse(until) : Infinity
        const toMs = Math.min(toldMs, stop.liftedAt?.getTime() ?? Infinity) - slackMs()
        return [{ id: stop._id, playerId: stop.playerId, fromMs: answeredAtMs, toMs }]
      }

      function playerOf({ asked, answer, id }: Told): string | undefined {
        const { session_id: sessionId } = asked
        if (typeof sessionId === 'string') return sessions.table.get(sessionId)?.playerId
        const roundId = answer.body.round_id
        const byRound = typeof roundId === 'string' ? rounds.table.get(roundId)?.round.playerId : undefined
        return byRound ?? /^stake\.([^.]+)\./.exec(id ?? '')?.[1]
      }

      /** An intent that was taken back, or whose stake nobody took, has started no game. */
      function checkPace(all: readonly RoundState[]): void {
        const starts = all
          .filter((round) => isPlayed(round) && round.started)
          .toSorted((a, b) => a.createdAt.getTime() - b.createdAt.getTime())
        for (const [index, { id, createdAt }] of starts.entries()) {
          const before = starts[index - 1]
          const apartMs = createdAt.getTime() - (before?.createdAt.getTime() ?? -Infinity)
          holds(
            'the pace of a player is kept',
            apartMs >= startGapMs - slackMs(),
            () => `${before?.id} and ${id} start ${apartMs} ms apart`,
          )
        }
      }

      function checkRealityCheck(told: Told): void {
        const round = rounds.table.get(String(told.answer.body.round_id))?.round
        const session = sessions.table.get(round?.sessionId ?? '')
        if (session?.realityCheckS === undefined) return
        const dueAtMs = session.createdAt.getTime() + session.realityCheckS * 1000
        const wentOn = all.some(
          ({ id, asked, sentAtMs }) =>
            id === session._id && asked.choice === 'continue' && sentAtMs < told.answeredAtMs,
        )
        holds(
          'no stake is accepted while a reality check is due',
          wentOn || firstSent(told) < dueAtMs + slackMs(),
          () => `${round?.id} of ${session._id}, sent at ${firstSent(told)}, due at ${dueAtMs}`,
        )
      }
    },
  }
}

/** When the stop ended, or will end. */
function endOf({ liftedAt, endsAt }: Pick<StopDocument, 'liftedAt' | 'endsAt'>): Date {
  return liftedAt ?? endsAt
}
