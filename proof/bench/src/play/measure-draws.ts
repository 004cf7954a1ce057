import { drawAngle } from '@pitboss/fairness/games/spin-bottle'
import { drawDice } from '@pitboss/fairness/games/dice'
import { drawMines } from '@pitboss/fairness/games/mines'
import type { Seeds } from '@pitboss/fairness/fair-v1'

const serverSeed = '18e93f4a7b5b58d2569765766d1b6c3296bbd8430d6f20249044d72f14720159'
const batch = 500
const draws: readonly { what: string; draw: (seeds: Seeds) => unknown }[] = [
  { what: 'dice', draw: drawDice },
  { what: 'spin-bottle', draw: drawAngle },
  { what: 'mines, 3 of 25', draw: (seeds) => drawMines(seeds, 3) },
  { what: 'mines, 24 of 25', draw: (seeds) => drawMines(seeds, 24) },
]

export type DrawSpeed = { what: string; perSecond: number }

/** Outcomes drawn per second on one core, each from a nonce of its own. */
export function measureDraws(durationMs: number): DrawSpeed[] {
  return draws.map(({ what, draw }) => {
    let nonce = 0
    const run = (untilMs: number) => {
      const startedMs = performance.now()
      const before = nonce
      while (performance.now() < untilMs) {
        for (let count = 0; count < batch; count++) draw({ serverSeed, clientSeed: 'bench', nonce: ++nonce })
      }
      return ((nonce - before) * 1000) / (performance.now() - startedMs)
    }
    run(performance.now() + durationMs / 3)
    return { what, perSecond: run(performance.now() + durationMs) }
  })
}
