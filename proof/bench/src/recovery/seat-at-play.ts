import { setTimeout as delay } from 'node:timers/promises'
import type { HttpClient } from '../harness/http-client.ts'
import { seatPlayers } from '../play/players.ts'

/** Pause of a player whose request failed. */
const pauseMs = 50

/** Players who play one round after the other, as they are answered. */
export type AtPlay = {
  /**
   * Resolves when each player has been answered a round that he asked for after this call: in how many
   * milliseconds the first and the last of them.
   */
  allPlayed(): Promise<{ firstMs: number; lastMs: number }>
  stop(): Promise<void>
}

/** Starts `count` players of dice, each with a request at a time; what fails is tried again. */
export async function seatAtPlay(http: HttpClient, token: string, count: number): Promise<AtPlay> {
  const play = await seatPlayers({ http, token, game: 'dice', count })
  const stopping = new AbortController()
  /** Hears of each answered round: the player and when he asked. */
  let hear = (_player: number, _askedAtMs: number) => {}
  const loops = Array.from({ length: count }, async (_, player) => {
    while (!stopping.signal.aborted) {
      const askedAtMs = performance.now()
      const isPlayed = await play(player).then(
        () => true,
        () => false,
      )
      if (isPlayed) hear(player, askedAtMs)
      else await delay(pauseMs)
    }
  })
  return {
    allPlayed() {
      const { promise, resolve } = Promise.withResolvers<{ firstMs: number; lastMs: number }>()
      const beganAtMs = performance.now()
      const played = new Set<number>()
      let firstMs = 0
      hear = (player, askedAtMs) => {
        if (askedAtMs < beganAtMs || played.has(player)) return
        played.add(player)
        const ms = performance.now() - beganAtMs
        if (played.size === 1) firstMs = ms
        if (played.size === count) resolve({ firstMs, lastMs: ms })
      }
      return promise
    },
    async stop() {
      stopping.abort()
      await Promise.all(loops)
    },
  }
}
