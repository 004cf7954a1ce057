import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'
import { containerOf, podOf } from './images/pod.ts'

/**
 * One pod as a supervised process: plays it, passes on what its container writes, and ends with the
 * container's exit code. SIGTERM, or the end of the runner, drains the service; SIGQUIT ends it at once.
 * Arguments: podman's path, the name of the pod, the image. The environment is the service's.
 */
const [podman = '', pod = '', image = ''] = process.argv.slice(2)
const container = containerOf(pod)
const run = promisify(execFile)
let attached: ChildProcess | null = null
let stopping = false
/** The pod is removed at once, and nothing is drained any more. */
let quitting = false

const drain = () => {
  stopping = true
  attached?.kill('SIGTERM')
}
process.on('SIGTERM', drain)
process.once('disconnect', drain)
process.on('SIGQUIT', () => {
  stopping = true
  quitting = true
  remove().then(() => process.exit(1), fail)
})

try {
  // One that this program's predecessor left when it was killed.
  await remove()
  await play()
  const code = stopping ? 0 : await follow()
  if (!quitting) {
    await remove()
    process.exit(code)
  }
} catch (error) {
  fail(error)
}

/** Makes the pod without starting it, so that nothing which it says is missed. Secrets go by a pipe. */
async function play(): Promise<void> {
  const playing = run(podman, ['kube', 'play', '--start=false', '--log-driver=none', '-'])
  playing.child.stdin?.end(JSON.stringify(podOf({ name: pod, image, environment: process.env })))
  await playing
}

/** Starts the container and waits for its end. podman passes SIGTERM on to it. */
async function follow(): Promise<number> {
  const running = spawn(podman, ['start', '--attach', container], { stdio: ['ignore', 'inherit', 'inherit'] })
  attached = running
  tellPid().catch(() => undefined)
  const [code] = await once(running, 'exit')
  return typeof code === 'number' ? code : 1
}

/**
 * Tells the supervisor the process of the container, which is the service itself. Only root sees it as one
 * that can be killed: for others it is of another user.
 */
async function tellPid(): Promise<void> {
  await run(podman, ['wait', '--condition=running', '--interval=50ms', container])
  // A signal that came before the container ran was not passed on.
  if (stopping && !quitting) attached?.kill('SIGTERM')
  const { stdout } = await run(podman, ['inspect', '--format={{.State.Pid}}', container])
  const pid = Number(stdout)
  if (pid <= 0 || process.getuid?.() !== 0 || !process.connected) return
  // The runner may go at this moment; without a callback that would end this process, and leave the pod.
  process.send?.({ pid }, () => undefined)
}

/** The container first: podman waits seconds for a pod whose last process has just ended. */
async function remove(): Promise<void> {
  await run(podman, ['rm', '--force', '--time=0', '--ignore', container])
  await run(podman, ['pod', 'rm', '--force', '--time=0', '--ignore', pod])
}

function fail(error: unknown): never {
  process.stderr.write(`${pod}: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(1)
}
