import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { send } from '../send.ts'
import { type Disturber, rest } from './disturber.ts'
import type { FaultCounts } from './fault-counts.ts'
import { pickMood, walletMoods } from './wallet-rules.ts'

const moodMs = { least: 1200, most: 4500, dead: 2000 }
const ruled = z.looseObject({
  rules: z.array(
    z.looseObject({
      kind: z.string(),
      apply: z.boolean().optional(),
      code: z.string().optional(),
      fired: z.number(),
    }),
  ),
})

/** Changes the wallet's mood every few seconds until the run ends, then calms it. */
export async function disturbWallet({
  walletUrl,
  random,
  counts,
  stopping,
  moods,
}: Omit<Disturber, 'note'> & {
  walletUrl: string
  /** Those alone, instead of all. */
  moods?: readonly string[] | undefined
}): Promise<void> {
  const url = `${walletUrl}/sandbox/faults`
  while (!stopping.aborted) {
    const mood = pickMood(random, moods)
    const rules = walletMoods[mood] ?? []
    const put = await send('PUT', url, { body: { seed: random.between(1, 1_000_000), rules } })
    if (put.status === 200) counts.add(`wallet mood ${mood}`)
    const lastsMs = mood === 'dead' ? moodMs.dead : random.between(moodMs.least, moodMs.most)
    await rest(lastsMs, stopping)
    await countFired(url, counts)
  }
  await calmWallet(walletUrl)
}

/** No faults any more; tried until the wallet, which may just be starting again, has taken it. */
async function calmWallet(walletUrl: string): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    if ((await send('DELETE', `${walletUrl}/sandbox/faults`)).status === 204) return
    await delay(100)
  }
  throw new Error('the sandbox wallet does not take its faults back')
}

async function countFired(url: string, counts: FaultCounts): Promise<void> {
  const now = ruled.safeParse((await send('GET', url)).body)
  if (!now.success) return
  for (const { kind, apply, code, fired } of now.data.rules) {
    const name = [kind, code, apply === true ? 'after applying' : ''].filter(
      (part) => part !== '' && part !== undefined,
    )
    if (fired > 0) counts.add(`wallet ${name.join(' ')}`, fired)
  }
}
