import { waitFor } from '@pitboss/testing/wait-for'
import { findEngines } from './find-processes.ts'

type Running = Parameters<typeof findEngines>[0]

/** The process of the one broker that runs now. @throws Error when none does */
export function brokerPid(product: Running): number {
  const found = findEngines(product).find(({ name }) => name === 'nats-server')
  if (found === undefined) throw new Error('no broker runs')
  return found.pid
}

/** Kills the broker and waits until another one runs in its place. */
export async function killBroker(product: Running, backWithinMs: number): Promise<void> {
  const before = brokerPid(product)
  process.kill(before, 'SIGKILL')
  await waitFor(() => brokerPid(product) !== before, {
    timeoutMs: backWithinMs,
    what: 'the broker to run again',
  })
}
