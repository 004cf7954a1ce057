import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { waitFor } from '@pitboss/testing/wait-for'
import t, { type Test } from 'tap'
import { z } from 'zod'

/** One pod as a process of `npm start -- --images`; a stand-in for podman notes what it is asked. */

const main = fileURLToPath(new URL('../../src/pod-main.ts', import.meta.url))
const podman = fileURLToPath(new URL('fixtures/podman-stand-in', import.meta.url))
const podSchema = z.object({
  spec: z.object({ containers: z.array(z.object({ env: z.array(z.unknown()) })) }),
})

function play(t: Test, more: NodeJS.ProcessEnv = {}) {
  const folder = t.testdir()
  const log = join(folder, 'podman.log')
  const child = spawn(process.execPath, [main, podman, 'pitboss-x-auth-1', 'localhost/pitboss/auth:1'], {
    env: { PATH: process.env.PATH, PODMAN_LOG: log, PITBOSS_MASTER_KEYS: 'hush', ...more },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  const printed = { text: '' }
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => {
      printed.text += chunk.toString()
    })
  // Those of a child whose channel was closed from here stay open.
  t.teardown(() => [child.stdout, child.stderr].map((stream) => stream?.destroy()))
  const told: unknown[] = []
  child.on('message', (message) => told.push(message))
  const ended = once(child, 'exit').then(([code]) => Number(code))
  const calls = () => readFileSync(log, 'utf8').split('\n')
  const removals = () => calls().filter((call) => /^(pod )?rm/.test(call))
  return { child, log, told, ended, calls, removals, says: () => printed.text }
}

const removal = [
  'rm --force --time=0 --ignore pitboss-x-auth-1-service',
  'pod rm --force --time=0 --ignore pitboss-x-auth-1',
]

t.test('it plays its pod, tells the service, and drains it at SIGTERM', async (t) => {
  const pod = play(t)
  await waitFor(() => pod.says().includes('running'), { what: 'the container' })
  if (process.getuid?.() === 0)
    await waitFor(() => pod.told.length > 0, { what: 'the process of the container' })
  pod.child.kill('SIGTERM')
  t.equal(await pod.ended, 3, 'the exit code of the container')
  t.match(pod.says(), /running\ndrained/)
  if (process.getuid?.() === 0) t.strictSame(pod.told, [{ pid: 4242 }])
  const calls = pod.calls()
  t.strictSame(calls.slice(0, 2), removal, 'what a predecessor left goes first')
  t.strictSame(pod.removals(), [...removal, ...removal], 'and nothing is left behind')
  const { containers } = podSchema.parse(JSON.parse(readFileSync(`${pod.log}.pod`, 'utf8'))).spec
  t.match(containers[0]?.env, [{ name: 'NODE_ENV', value: 'development' }, { name: 'PITBOSS_MASTER_KEYS' }])
  t.notMatch(calls.join('\n'), /hush/, 'no secret is in a list of processes')
})

t.test('a service that ends is told by its own exit code', async (t) => {
  const pod = play(t)
  await waitFor(() => pod.says().includes('running'), { what: 'the container' })
  writeFileSync(`${pod.log}.code`, '78')
  renameSync(`${pod.log}.code`, `${pod.log}.end`)
  t.equal(await pod.ended, 78)
  t.strictSame(pod.removals(), [...removal, ...removal])
})

t.test('when the runner is gone, so is the pod', async (t) => {
  const pod = play(t)
  await waitFor(() => pod.says().includes('running'), { what: 'the container' })
  pod.child.disconnect()
  t.equal(await pod.ended, 3)
  t.strictSame(pod.removals(), [...removal, ...removal])
})

t.test('SIGQUIT ends it without waiting for the service, also while podman is slow', async (t) => {
  const pod = play(t, { PODMAN_SLOW: 'yes' })
  await waitFor(() => pod.says().includes('running'), { what: 'the container' })
  pod.child.kill('SIGQUIT')
  t.not(await pod.ended, 3)
  t.notMatch(pod.says(), 'drained', 'the service did not drain')
  t.strictSame(pod.removals(), [...removal, ...removal])
})

t.test('what podman refuses is said in its own words', async (t) => {
  const pod = play(t, { PODMAN_REFUSES: 'no such image' })
  t.equal(await pod.ended, 1)
  t.match(pod.says(), /pitboss-x-auth-1: .*no such image/s)
})
