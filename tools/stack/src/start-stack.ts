import { join } from 'node:path'
import { natsAccounts } from './nats/accounts.ts'
import { applyTopology } from '@pitboss/bus/apply-topology'
import { type Bus, connectBus } from '@pitboss/bus/connect-bus'
import { checkEngineSettings } from '@pitboss/engines/engine-settings'
import { freePort, isFreePort } from '@pitboss/engines/processes/free-port'
import { type MongoEngine, startMongodb } from '@pitboss/engines/start-mongodb'
import { type NatsEngine, startNats } from '@pitboss/engines/start-nats'
import { badConfigExitCode } from '@pitboss/runtime/load-config'
import pino from 'pino'
import { type DemoAccount, prepareDemoAccount } from './demo-account.ts'
import { type DemoParts, prepareDemoParts } from './demo-parts.ts'
import { claimDataFolder, dropState } from './claim-data-folder.ts'
import { exchange } from './exchange.ts'
import { preparePods } from './images/prepare-pods.ts'
import type { LogOutput } from './logs/log-output.ts'
import { writePrivateJson } from './state-file.ts'
import { StackError } from './stack-error.ts'
import type { ServiceName, StackOptions } from './stack-options.ts'
import { type OtherReplica, serviceSpec, serviceSpecs } from './stack-services.ts'
import { type ProcessSpec, type SupervisedProcess, superviseProcess } from './supervised-process.ts'
import { waitUntil } from './wait-until.ts'

const demoWithinMs = 60_000
const readyWithinMs = 60_000
const drainMs = 10_000
/** As `terminationGracePeriodSeconds` in deploy/k8s. */
const replicaDrainMs = 30_000

export type Stack = {
  baseUrl: string
  dataDir: string
  demo: DemoAccount | null
  engines: { mongodb: { url: string; kind: string }; nats: { url: string; kind: string } }
  /** Starts one more replica of a service. @returns its number, once it is ready */
  addReplica(name: ServiceName, other?: OtherReplica): Promise<number>
  /** Drains a replica as a roll-out does: SIGTERM, and SIGKILL after 30 s. It is not started again. */
  removeReplica(name: ServiceName, replica: number): Promise<void>
  stop(): Promise<void>
  /** Ends every process at once; engines recover at the next start. */
  killNow(): void
}

/** Engines that a proof has started in its own way; it also stops them. */
export type GivenEngines = {
  readonly mongodb?: Pick<MongoEngine, 'url' | 'kind' | 'version' | 'reason'> | undefined
  /** With the replicas of its streams. */
  readonly nats?: (Omit<NatsEngine, 'pid' | 'stop'> & { readonly replicas: number }) | undefined
}

type Ended = () => Promise<void>

/**
 * Brings up the whole product: engines, services, demo parts, demo account, and resolves once `/readyz`
 * answers 200. What was started is stopped again when anything fails or `stopping` aborts.
 * @throws StackError or EngineError with a sentence that says what to do.
 */
export async function startStack(
  options: StackOptions,
  output: LogOutput,
  stopping: AbortSignal,
  given: GivenEngines = {},
): Promise<Stack> {
  const { dataDir } = options
  const refused = new AbortController()
  const signal = AbortSignal.any([stopping, refused.signal])
  const undo: Ended[] = []
  const processes: SupervisedProcess[] = []
  const stop = async () => {
    const isGateway = ({ spec }: SupervisedProcess) => spec.name === 'gateway'
    await Promise.all(processes.filter(isGateway).map((each) => each.stop(drainMs)))
    await Promise.all(processes.filter((each) => !isGateway(each)).map((each) => each.stop(drainMs)))
    for (const end of undo.splice(0).reverse()) await end()
  }
  try {
    checkEngineSettings(process.env)
    undo.push(claimDataFolder(dataDir))
    if (options.fresh) dropState(dataDir)
    const port = options.port === 0 ? await freePort() : options.port
    if (!(await isFreePort(port))) {
      throw new StackError(
        `Port ${options.port} is taken. Stop what listens there, or choose another: npm start -- --port ${options.port + 1}`,
      )
    }
    const baseUrl = `http://127.0.0.1:${port}`
    const pods = options.images ? await preparePods(dataDir, output) : null
    signal.throwIfAborted()
    const engineLogger = pino(
      {
        level: options.logLevel,
        base: { service: 'engines' },
        formatters: { level: (label) => ({ level: label }) },
        timestamp: pino.stdTimeFunctions.isoTime,
      },
      { write: (line) => output.line('engines', line) },
    )
    const own = async <Engine extends { stop: Ended }>(starting: Promise<Engine>): Promise<Engine> => {
      const engine = await starting
      undo.push(() => engine.stop())
      return engine
    }
    const engineOf = (name: string) => ({ dataDir: join(dataDir, name), logger: engineLogger })
    const step = createSteps(output)
    undo.push(async () => step(null))
    step('starting the database and the broker')
    const [mongodb, nats] = await Promise.all([
      given.mongodb ?? own(startMongodb({ ...engineOf('mongodb'), withLogin: true })),
      given.nats ?? own(startNats({ ...engineOf('nats'), accounts: natsAccounts })),
    ])
    for (const [name, engine] of Object.entries({ mongodb, nats })) {
      output.say(`${name}: ${engine.kind} ${engine.version}`, { why: engine.reason })
    }
    signal.throwIfAborted()

    const connectAs = (user: 'ops' | 'gateway') => {
      const nkeySeed = nats.seeds[user]
      return connectBus({
        ...{ url: nats.url, service: user, logger: engineLogger },
        ...(nkeySeed === undefined ? {} : { nkeySeed }),
      })
    }
    const ops = await connectAs('ops')
    undo.push(() => ops.close())
    await applyTopology(ops.nc, { replicas: given.nats?.replicas ?? 1, events: options.events })
    writePrivateJson(join(dataDir, 'connection.json'), {
      nats_url: nats.url,
      ...(nats.seeds.ops === undefined ? {} : { nats_nkey_seed: nats.seeds.ops }),
      ...(nats.monitorUrl === undefined ? {} : { nats_monitor_url: nats.monitorUrl }),
      mongodb_url: mongodb.url,
      database_prefix: options.databasePrefix,
    })

    const urls = { mongodbUrl: mongodb.url, natsUrl: nats.url }
    const ground = { options, port, baseUrl, ...urls, seeds: nats.seeds, dataDir, pods }
    const specs = await serviceSpecs(ground)
    const numbersTaken = { ...options.replicas }
    const parts = options.demo ? await prepareDemoParts(dataDir) : null
    const engines = {
      mongodb: { url: mongodb.url, kind: mongodb.kind },
      nats: { url: nats.url, kind: nats.kind },
    }
    let demo: DemoAccount | null = null
    const writeDemoFile = () => {
      if (demo !== null)
        writePrivateJson(join(dataDir, 'demo.json'), {
          base_url: baseUrl,
          ...demo,
          engines,
          processes: processes.map(describe),
        })
    }
    const onBadConfig = (why: string) => refused.abort(new StackError(why, { exitCode: badConfigExitCode }))
    const launch = (spec: ProcessSpec) =>
      processes.push(superviseProcess({ spec, output, onChange: writeDemoFile, onBadConfig }))
    step('starting auth, rounds, wallet-bridge and webhooks, which make their indexes at the first start')
    for (const spec of [...specs.filter(({ name }) => name !== 'gateway'), ...(parts?.specs ?? [])])
      launch(spec)
    // The gateways come last, so that whoever sees /readyz answer finds demo.json complete.
    if (parts !== null) {
      const edge = await connectAs('gateway')
      try {
        demo = await makeDemo({ ops, edge, dataDir, parts, signal })
      } finally {
        await edge.close()
      }
    }
    step('starting the gateway')
    for (const spec of specs.filter(({ name }) => name === 'gateway')) launch(spec)
    writeDemoFile()
    await untilReady(baseUrl, signal)
    step(null)
    return {
      baseUrl,
      dataDir,
      demo,
      engines,
      async addReplica(name, other) {
        numbersTaken[name] += 1
        const spec = await serviceSpec(name, numbersTaken[name], ground, other)
        launch(spec)
        writeDemoFile()
        await untilReady(spec.httpUrl ?? baseUrl, signal)
        return spec.replica
      },
      async removeReplica(name, replica) {
        const at = processes.findIndex(({ spec }) => spec.name === name && spec.replica === replica)
        const [found] = at === -1 ? [] : processes.splice(at, 1)
        if (found === undefined) throw new StackError(`there is no replica ${replica} of ${name}`)
        await found.stop(replicaDrainMs)
        writeDemoFile()
      },
      stop,
      killNow: () => {
        for (const each of processes) each.killNow()
      },
    }
  } catch (error) {
    await stop()
    throw refused.signal.aborted ? refused.signal.reason : error
  }
}

const silenceMaxMs = 10_000

/** Says what the start is at, and every ten seconds that it still is; null: at nothing more. */
function createSteps(output: LogOutput): (text: string | null) => void {
  let silence: NodeJS.Timeout | undefined
  return (text) => {
    clearInterval(silence)
    if (text === null) return
    output.say(text, {})
    const beganAt = performance.now()
    silence = setInterval(
      () => output.say(`still ${text}`, { seconds: Math.round((performance.now() - beganAt) / 1000) }),
      silenceMaxMs,
    )
  }
}

async function untilReady(url: string, signal: AbortSignal): Promise<void> {
  await waitUntil({
    what: `200 from ${url}/readyz`,
    timeoutMs: readyWithinMs,
    signal,
    attempt: async () =>
      (await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2000) })).ok ? true : null,
  })
}

async function makeDemo({
  ops,
  edge,
  dataDir,
  parts,
  signal,
}: {
  ops: Bus
  edge: Bus
  dataDir: string
  parts: DemoParts
  signal: AbortSignal
}): Promise<DemoAccount> {
  const account = await waitUntil({
    what: 'The demo account',
    timeoutMs: demoWithinMs,
    signal,
    attempt: () => prepareDemoAccount({ ops, edge, dataDir, urls: parts.urls }),
  })
  const receiver = new URL('/demo/secrets', parts.urls.receiver).href
  for (const [url, body] of [
    [`${account.wallet.url}/sandbox/secret`, { secret: account.wallet.secret }],
    [`${account.live_wallet.url}/sandbox/secret`, { secret: account.live_wallet.secret }],
    [receiver, { secrets: [account.receiver.secret] }],
  ] as const) {
    await waitUntil({
      what: `PUT ${url}`,
      timeoutMs: demoWithinMs,
      signal,
      attempt: async () => {
        const { status } = await exchange('PUT', url, { body, timeoutMs: 2000 })
        if (status >= 300) throw new StackError(`PUT ${url} answered ${status}`)
        return true
      },
    })
  }
  return account
}

function describe({ spec, pid }: SupervisedProcess) {
  return {
    name: spec.name,
    replica: spec.replica,
    pid: pid(),
    ...(spec.httpUrl === null ? {} : { http_url: spec.httpUrl }),
  }
}
