import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { badConfigExitCode } from '@pitboss/runtime/load-config'
import { z } from 'zod'
import type { LogOutput } from './logs/log-output.ts'

const firstDelayMs = 200
/** Within a second, however often it dies. Source: docs/contract.md, section 9. */
const delayMaxMs = 800
/** A process that lived this long starts again without a longer wait. */
const healthyAfterMs = 10_000
/** Characters that are kept of a child's last output, to say why it refused its configuration. */
const lastWordsCharacters = 2000

export type ProcessSpec = {
  readonly name: string
  readonly replica: number
  /** The TypeScript file that it runs. */
  readonly entry: string
  readonly args?: readonly string[]
  /** Options of Node itself. */
  readonly nodeOptions?: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  /** Settings that are read anew at each start of the process. */
  readonly freshEnvironment?: () => Readonly<Record<string, string>>
  readonly httpUrl: string | null
  /** The signal that ends it at once: SIGKILL, unless it has something outside of its process to end. */
  readonly killSignal?: NodeJS.Signals
}

/** What a process may tell: that the service itself is another process, which ends with it. */
const toldSchema = z.object({ pid: z.int().positive() })

export type SupervisedProcess = {
  readonly spec: ProcessSpec
  /** null between a death and the new start. */
  pid(): number | null
  /** SIGTERM, then the spec's `killSignal` after `graceMs`; resolves when it is gone. */
  stop(graceMs: number): Promise<void>
  killNow(): void
}

/**
 * Keeps one process running: a dead one is started again within a second, later and later (up to 10 s) while
 * it keeps dying at once. The child has a process group of its own, so that Ctrl-C reaches the runner alone,
 * and a channel by which it notices the runner's death.
 */
export function superviseProcess({
  spec,
  output,
  onChange,
  onBadConfig,
}: {
  spec: ProcessSpec
  output: LogOutput
  onChange: () => void
  /** The process ended because a setting is bad; `why` names the variable. */
  onBadConfig: (why: string) => void
}): SupervisedProcess {
  const label = spec.replica > 1 ? `${spec.name}-${spec.replica}` : spec.name
  const killSignal = spec.killSignal ?? 'SIGKILL'
  /** The next process is started when the one before has ended, and by nobody else. */
  const slot = randomUUID()
  let child: ChildProcess | null = null
  let toldPid: number | null = null
  let stopping = false
  let delayMs = firstDelayMs
  let timer: NodeJS.Timeout | null = null
  const gone: (() => void)[] = []

  /** Null when they cannot be read; the next try follows. */
  const readFresh = () => {
    try {
      return spec.freshEnvironment?.() ?? {}
    } catch (error) {
      output.say('process.not-started', { process: label, why: String(error), restart_in_ms: delayMaxMs })
      timer = setTimeout(start, delayMaxMs)
      return null
    }
  }

  const start = () => {
    timer = null
    const startedAtMs = performance.now()
    const fresh = readFresh()
    if (fresh === null) return
    const { nodeOptions = [], entry, args = [] } = spec
    const started = spawn(process.execPath, ['--disable-sigusr1', ...nodeOptions, entry, ...args], {
      env: { ...inheritedEnvironment(), PITBOSS_SLOT: slot, ...spec.environment, ...fresh },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      detached: true,
    })
    child = started
    for (const stream of [started.stdout, started.stderr]) if (stream !== null) output.attach(label, stream)
    let lastWords = ''
    started.stderr?.on('data', (chunk: Buffer) => {
      lastWords = (lastWords + chunk.toString()).slice(-lastWordsCharacters)
    })
    started.on('message', (message) => {
      toldPid = toldSchema.safeParse(message).data?.pid ?? null
      onChange()
    })
    let over = false
    const ended = (code: number | null, signal: NodeJS.Signals | null) => {
      if (over) return
      over = true
      child = null
      toldPid = null
      onChange()
      for (const resolve of gone.splice(0)) resolve()
      if (stopping) return
      delayMs = performance.now() - startedAtMs > healthyAfterMs ? firstDelayMs : delayMs
      output.say('process.died', { process: label, code, signal, restart_in_ms: delayMs })
      timer = setTimeout(start, delayMs)
      delayMs = Math.min(delayMs * 2, delayMaxMs)
    }
    started.once('exit', ended)
    // Not on 'exit': the last words may come after it.
    started.once('close', (code) => {
      if (code === badConfigExitCode) onBadConfig(lastWords.trim())
    })
    started.once('error', () => ended(null, null))
    onChange()
  }
  start()

  return {
    spec,
    pid: () => toldPid ?? child?.pid ?? null,
    async stop(graceMs) {
      stopping = true
      if (timer !== null) clearTimeout(timer)
      const running = child
      if (running === null) return
      const exited = new Promise<void>((resolve) => gone.push(resolve))
      running.kill('SIGTERM')
      const force = setTimeout(() => running.kill(killSignal), graceMs)
      await exited
      clearTimeout(force)
    },
    killNow() {
      stopping = true
      if (timer !== null) clearTimeout(timer)
      child?.kill(killSignal)
    },
  }
}

/**
 * Variables that a child takes from the runner's environment; its settings come from its `ProcessSpec` alone.
 */
function inheritedEnvironment(): Record<string, string> {
  const names = [
    'PATH',
    'HOME',
    'TZ',
    'LANG',
    'NODE_COMPILE_CACHE',
    'NODE_ENV',
    'NODE_OPTIONS',
    'PITBOSS_LOG_LEVEL',
    'PITBOSS_TIME_SCALE',
    'PITBOSS_TOKEN_TTL_S',
    'PITBOSS_APPROVER_AGE_S',
    'PITBOSS_DATABASE_PREFIX',
    'PITBOSS_FAILPOINTS',
    'PITBOSS_BUG',
    'PITBOSS_PROOF_CONTROL',
    'PITBOSS_RETURNS_ALARM',
    'PITBOSS_ROUNDS_LEFT_FROM',
    'PITBOSS_STAKES_IN_DOUBT_BEFORE',
    'PITBOSS_PLAY_YIELDS_FROM_S',
    'PITBOSS_PLAY_STOPS_FROM_S',
    'PITBOSS_TRUSTED_PROXIES',
    'PITBOSS_OUTBOUND_DENY',
    'PITBOSS_CALL_TOKENS',
    'PITBOSS_EDGE_TOKENS',
    'PITBOSS_HEADERS_TIMEOUT_MS',
    'PITBOSS_BODY_TIMEOUT_MS',
  ]
  const limits = Object.keys(process.env).filter(
    (name) =>
      name.startsWith('PITBOSS_LIMIT_') || name.startsWith('PITBOSS_SHED_') || name.startsWith('OTEL_'),
  )
  return Object.fromEntries(
    [...names, ...limits].flatMap((name) =>
      process.env[name] === undefined ? [] : [[name, process.env[name]]],
    ),
  )
}
