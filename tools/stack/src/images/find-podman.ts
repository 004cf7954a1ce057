import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorCode, EngineError } from '@pitboss/engines/engine-error'
import { findProgram } from '@pitboss/engines/engine-settings'
import { runProgram } from '@pitboss/engines/fetch/run-program'
import { StackError } from '../stack-error.ts'

const remedy = 'On Debian and Ubuntu: apt-get install podman runc catatonit. Or start without --images'
/** Number of the capability CAP_SYS_RESOURCE, without which nobody raises a limit beyond the hard one. */
const sysResource = 24n
/** More than a service needs; podman lowers its own limit of processes to 32,768. */
const limitMax = 16_384
const own = ['PATH', 'HOME', 'TMPDIR', 'DBUS_SESSION_BUS_ADDRESS']

/** The machine's podman, and the variables under which it is to run. */
export type Podman = { readonly program: string; readonly env: Readonly<Record<string, string>> }

/**
 * Finds podman, `PODMAN_BIN` or the one on the PATH, and starts one empty pod to see that it can. Settings
 * that this machine needs go into `folder`, unless `CONTAINERS_CONF` names a person's own.
 * @throws StackError with the packages that are missing
 */
export async function findPodman(env: NodeJS.ProcessEnv, folder: string): Promise<Podman> {
  const found = findProgram(env, 'PODMAN_BIN', 'podman')
  if (process.platform !== 'linux') throw new StackError('--images needs Linux: pods share its network')
  if (found === null) throw new StackError(`--images needs podman, which is not on the PATH. ${remedy}`)
  const names = Object.keys(env).filter((name) => own.includes(name) || /^(XDG_|CONTAINERS_)/.test(name))
  const settings = env.CONTAINERS_CONF === undefined ? limitSettings(folder) : {}
  const podman = {
    program: found.path,
    env: { ...Object.fromEntries(names.map((name) => [name, env[name] ?? ''])), ...settings },
  }
  try {
    const pod = (await runPodman(podman, ['pod', 'create', '--network=host'])).trim()
    try {
      await runPodman(podman, ['pod', 'start', pod])
    } finally {
      await runPodman(podman, ['pod', 'rm', '--force', '--time=0', pod])
    }
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
    throw new StackError(`--images needs podman, which cannot start a pod here: ${error.message}\n${remedy}`)
  }
  return podman
}

/** Runs podman to its end. @returns what it printed @throws EngineError with what it said when it fails */
export function runPodman(
  { program, env }: Podman,
  args: string[],
  options: { cwd?: string; allow?: number[] } = {},
): Promise<string> {
  return runProgram(program, args, { ...options, env: { ...env } })
}

/**
 * podman gives a container of root more open files than root itself may have here, which fails where root may
 * not raise its limits, as in many virtual machines. There a container gets the limits of this process.
 */
function limitSettings(folder: string): Record<string, string> {
  if (process.getuid?.() !== 0) return {}
  const capabilities = /^CapEff:\s*([0-9a-f]+)$/m.exec(readOwn('status'))?.[1]
  if (capabilities === undefined || ((BigInt(`0x${capabilities}`) >> sysResource) & 1n) === 1n) return {}
  const limit = (name: string) => {
    const hard = new RegExp(`^${name}\\s+\\S+\\s+(\\d+)`, 'm').exec(readOwn('limits'))?.[1]
    return Math.min(Number(hard ?? limitMax), limitMax)
  }
  const ulimits = [
    ['nofile', limit('Max open files')],
    ['nproc', limit('Max processes')],
  ].map(([name, value]) => `"${name}=${value}:${value}"`)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, 'containers.conf')
  writeFileSync(path, `[containers]\ndefault_ulimits = [${ulimits.join(', ')}]\n`)
  return { CONTAINERS_CONF: path }
}

function readOwn(name: string): string {
  try {
    return readFileSync(`/proc/self/${name}`, 'utf8')
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return ''
    throw error
  }
}
