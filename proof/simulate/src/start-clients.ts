import type { Answers } from '@pitboss/chaos/answers'
import { inCurrency } from '@pitboss/chaos/in-currency'
import type { Random } from '@pitboss/chaos/random'
import { scopeKey } from '@pitboss/contracts/caller'
import { parseAmount } from '@pitboss/money/amount'
import type { SessionDocument } from '@pitboss/rounds/storage/sessions-store'
import { brandOf } from './brands.ts'
import { askLater } from './clients/ask-later.ts'
import { type ClientDeps, currencies, type SentRequest } from './clients/client.ts'
import { driveRounds, endOpenRounds } from './clients/operator-server.ts'
import { freeBetStake, playGame } from './clients/player.ts'
import { createGoOn, stopAtTimes } from './clients/protect.ts'
import { takeBackWins } from './clients/take-back.ts'
import type { Habits } from './habits.ts'
import { limitedCurrency, type LimitedPlayer } from './limited-player.ts'
import { type ProtectedPlayer, realityCheckS } from './protected-player.ts'
import { scope, type World } from './world.ts'

/** The currency in which a player plays, decided by the run's seed. */
function currencyOf(playerId: string, random: Random): string {
  return random.fork(`currency/${playerId}`).pick(currencies)
}

/** Creates the players and the operator's server of a run. */
export function createClients({
  world,
  habits,
  answers,
  asked,
  limited,
  guarded,
  endsAtMs,
  stormMs,
  sessionMs,
  turnsAtMs,
}: {
  world: World
  habits: Habits
  answers: Answers
  asked: Set<string>
  /** A player of two games at once, with limits; null for none. */
  limited: LimitedPlayer | null
  /** A player of two games at once, whom stops or the rules of a jurisdiction protect; null for none. */
  guarded: ProtectedPlayer | null
  endsAtMs: number
  /** Free bets may end within so many ms. */
  stormMs: number
  sessionMs: number
  /** The midnight that the run crosses; null for none. */
  turnsAtMs: number | null
}) {
  const { timeline, random } = world
  const { tabs } = habits
  const sent: SentRequest[] = []
  let ending = false

  return {
    start(): Promise<void>[] {
      const players = (['dice', 'mines', 'mines', 'dice'] as const).flatMap((game, index) => {
        const session = sitAs(index, game)
        const isOfTwoGames = session.limited === true || session.playerId === guarded?.playerId
        const freeBets = index < 2 ? habits.freeBets : 0
        const other = isOfTwoGames ? null : sitElsewhere(session)
        if (freeBets > 0) grantFreeBets(session)
        return tabs.map((name) => {
          // Of a player of two games the tabs of each have ids of their own.
          const tab = isOfTwoGames ? `${game}-${name}` : name
          const deps = clientDeps(`${session.playerId}${tab}`)
          const goOn = session.playerId === guarded?.playerId ? { goOn: createGoOn(deps) } : {}
          return playGame(deps, { session, tab, freeBets, other, ...goOn })
        })
      })
      const driven = [sit('driver-1', 'dice'), sit('driver-2', 'dice')]
      // Beside the games that the player plays.
      if (limited !== null) driven.push(sitLimited(limited, 'spin-bottle'))
      const { impatience } = habits
      const drivers = driven.flatMap((session) =>
        tabs.map((worker) =>
          driveRounds(clientDeps(`${session.playerId}${worker}`), { session, worker, impatience }),
        ),
      )
      const stopped = guarded?.stopped ?? []
      const stops = stopped.map((playerId) => stopAtTimes(clientDeps(`stops/${playerId}`), playerId))
      const closing = turnsAtMs === null ? [] : [takeBackWins(clientDeps('closing'), turnsAtMs)]
      return [...players, ...drivers, ...stops, ...closing]
    },

    /** Clients send some of their requests again. */
    askLater: () => askLater(clientDeps('later')),

    /** The operator's server ends the rounds that it left open, again and again until none is left. */
    endWhatIsOpen(): void {
      if (ending) return
      ending = true
      endOpenRounds(clientDeps('ending')).then(
        () => timeline.after(1000, () => void (ending = false)),
        world.onError,
      )
    },
  }

  function clientDeps(name: string): ClientDeps {
    const { patienceMs, doubled, idStyle } = habits
    const own = { random: random.fork(name), endsAtMs, patienceMs, doubled, idStyle }
    return { world, answers, asked, sent, ...own }
  }

  /** Few in each, so that some are used up, and one expires, in the middle. */
  function grantFreeBets({ playerId, game, currency }: SessionDocument): void {
    const stake = String(parseAmount(inCurrency(freeBetStake, currency), currency))
    for (const count of [1, 2, 3]) {
      const untilMs = count === 2 ? random.fork(`grants/${playerId}`).between(1, stormMs) : sessionMs
      const endsAt = new Date(timeline.nowMs() + untilMs)
      world.grants.give({ _id: world.newId('frb'), playerId, game, currency, stake, count, endsAt })
    }
  }

  function sitAs(index: number, game: string): SessionDocument {
    if (index < 2) return guarded === null ? sit(`player-${index}`, game) : sitGuarded(guarded, game)
    return limited === null ? sit(`player-${index}`, game) : sitLimited(limited, game)
  }

  function sitGuarded({ playerId, underRules, since }: ProtectedPlayer, game: string): SessionDocument {
    const session = sit(playerId, game)
    if (!underRules) return session
    // The cap is in pounds.
    const rules = { jurisdiction: 'UK', realityCheckS, stakeCap: 'slots', currency: 'GBP' } as const
    const held = { ...session, ...rules, createdAt: since }
    world.sessions.give(held)
    return held
  }

  function sitLimited({ playerId, since }: LimitedPlayer, game: string): SessionDocument {
    const session = {
      ...sit(playerId, game),
      currency: limitedCurrency,
      limited: true,
      createdAt: since,
    } as const
    world.sessions.give(session)
    return session
  }

  /** Another session of the player in the game, of any currency. */
  function sitElsewhere({ playerId, game }: SessionDocument): SessionDocument {
    const currency = random.fork(`elsewhere/${playerId}`).pick(currencies)
    const session = { ...sit(playerId, game), currency }
    world.sessions.give(session)
    return session
  }

  function sit(playerId: string, game: string): SessionDocument {
    const now = timeline.now()
    const session: SessionDocument = {
      _id: world.newId('ses'),
      version: 1,
      scope: scopeKey(scope),
      ...scope,
      playerId,
      game,
      currency: currencyOf(playerId, random),
      brandId: brandOf(random, playerId, game),
      language: null,
      country: null,
      returnUrl: null,
      metadata: [],
      limits: null,
      createdAt: now,
      expiresAt: new Date(now.getTime() + sessionMs),
      closedAt: null,
    }
    world.sessions.give(session)
    return session
  }
}
