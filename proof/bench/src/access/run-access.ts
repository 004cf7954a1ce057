import type { Cleanup } from '../harness/cleanup.ts'
import type { DemoFile } from '@pitboss/stack/demo-file'
import { createHttpClient, expectStatus, type HttpClient } from '../harness/http-client.ts'
import { mintToken, signIn } from '../harness/operator.ts'
import { createProductWorld } from '../harness/product-world.ts'
import { runLoad } from '../harness/run-load.ts'
import { type PairPlan, runPairs, type Side } from '../harness/run-pairs.ts'
import { startServer } from '../harness/start-part.ts'
import { latencyCells, renderComparisons, renderTable } from '../harness/table.ts'
import { type GuessTimes, timeGuesses, welchLimit } from './time-guesses.ts'

const loginsAtOnce = [1, 4]

/**
 * Measures access: a request with a cached token beside a fastify hello, a login, and the times of refusing
 * an unknown key and a wrong secret.
 */
export async function runAccess(
  plan: PairPlan,
  guesses: number,
  cleanup: Cleanup,
  say: (text: string) => void,
) {
  const connections = Math.max(...plan.concurrencies)
  const { engines, demo, http } = await createProductWorld({ name: 'access', connections, cleanup, say })
  const hello = await startServer('access/floor-hello-main.ts', {}, cleanup)
  const floorHttp = createHttpClient(hello.url, connections)
  cleanup.add(() => floorHttp.close())

  say(`refusing ${guesses} guesses`)
  const guessTimes = await timeGuesses(http, await signIn(http, demo), guesses)
  const token = await mintToken(http, demo)
  const floor = side(() => expectStatus(200, floorHttp.send('GET', '/hello')))
  say('access alone')
  const alone = await runPairs(
    plan,
    { product: side(() => expectStatus(422, http.send('GET', '/v1/games?limit=none', { token }))), floor },
    say,
  )
  say('a list of games')
  const games = await runPairs(
    plan,
    { product: side(() => expectStatus(200, http.send('GET', '/v1/games', { token }))), floor },
    say,
  )
  say('logins')
  const logins = await measureLogins(plan, http, demo)
  const text = [
    'A cached token through every check and no service (refused for its query), against fastify hello:',
    renderComparisons(alone),
    'GET /v1/games with a cached token (gateway, NATS, rounds, database), against fastify hello:',
    renderComparisons(games),
    'POST /v1/dashboard/login (argon2id, at most two at a time):',
    renderTable(
      ['', 'per s', 'p50 ms', 'p95 ms', 'p99 ms'],
      logins.map(({ concurrency, rate, latencyMs }) => [
        `${concurrency} at once`,
        rate.toFixed(1),
        ...latencyCells(latencyMs),
      ]),
    ),
    renderGuesses(guessTimes),
  ].join('\n\n')
  return { result: { engines: engines.kinds, guessTimes, alone, games, logins }, text }
}

function side(request: () => Promise<string>): Side {
  const work = async () => {
    await request()
  }
  return (concurrency, durationMs) => runLoad({ concurrency, durationMs, work })
}

async function measureLogins({ durationMs }: PairPlan, http: HttpClient, demo: DemoFile) {
  const work = async () => {
    await signIn(http, demo)
  }
  const samples = []
  for (const concurrency of loginsAtOnce) samples.push(await runLoad({ concurrency, durationMs, work }))
  return samples
}

function renderGuesses(times: GuessTimes): string {
  const { samples, unknownKeyMedianMs, wrongSecretMedianMs, t, tWithoutPauses } = times
  const told = Math.max(Math.abs(t), Math.abs(tWithoutPauses)) < welchLimit
  return [
    `Unknown key against wrong secret, ${samples} refusals in random order:`,
    `  median ${unknownKeyMedianMs.toFixed(3)} ms and ${wrongSecretMedianMs.toFixed(3)} ms`,
    `  Welch's t ${t.toFixed(2)}; without the slowest 5 % ${tWithoutPauses.toFixed(2)}`,
    `  ${told ? 'not told apart' : 'TOLD APART'} at |t| < ${welchLimit}`,
  ].join('\n')
}
