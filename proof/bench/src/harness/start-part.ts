import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import type { Cleanup } from './cleanup.ts'

/** A process of the benchmark's own, asked by messages. */
export type Part = {
  readonly pid: number
  ask(message: object, withinMs?: number): Promise<unknown>
}

const answerWithinMs = 60_000
const served = z.object({ url: z.string() })

/** As `startPart`, for one that is a server and says where when it is ready. */
export async function startServer(
  entry: string,
  environment: Readonly<Record<string, string>>,
  cleanup: Cleanup,
): Promise<{ part: Part; url: string }> {
  const { part, ready } = await startPart(entry, environment, cleanup)
  return { part, url: served.parse(ready).url }
}

/**
 * Starts a TypeScript file of `proof/bench/src` as a process; it sends one message when it is ready, and then
 * one for each that it gets.
 * @returns the part and its first message.
 */
export async function startPart(
  entry: string,
  environment: Readonly<Record<string, string>>,
  cleanup: Cleanup,
): Promise<{ part: Part; ready: unknown }> {
  const child = fork(fileURLToPath(new URL(`../${entry}`, import.meta.url)), [], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  let over: string | null = null
  cleanup.add(async () => {
    if (over !== null) return
    const exited = once(child, 'exit')
    child.kill('SIGTERM')
    await exited
  })
  const waiting: { resolve: (value: unknown) => void; reject: (error: Error) => void }[] = []
  child.on('message', (message) => waiting.shift()?.resolve(message))
  child.once('exit', (code, signal) => {
    over = `${entry} ended with ${code ?? signal}`
    for (const { reject } of waiting.splice(0)) reject(new Error(over))
  })
  const next = (withinMs: number) => {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    if (over !== null) reject(new Error(over))
    else waiting.push({ resolve, reject })
    const timer = setTimeout(
      () => reject(new Error(`${entry} did not answer within ${withinMs} ms`)),
      withinMs,
    )
    return promise.finally(() => clearTimeout(timer))
  }
  const ready = await next(answerWithinMs)
  if (child.pid === undefined) throw new Error(`${entry} has no process`)
  const part: Part = {
    pid: child.pid,
    ask(message, withinMs = answerWithinMs) {
      const answer = next(withinMs)
      child.send(message)
      return answer
    },
  }
  return { part, ready }
}
