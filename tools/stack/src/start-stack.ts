import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { natsAccounts } from './nats/accounts.ts'
import { applyTopology } from '@pitboss/bus/apply-topology'
import { type Bus, connectBus } from '@pitboss/bus/connect-bus'
import { checkEngineSettings } from '@pitboss/engines/engine-settings'
import { reasonOf } from '@pitboss/engines/engine-error'
import { type ClaimResult, claimFile } from '@pitboss/engines/processes/claim-file'
import { freePort, isFreePort } from '@pitboss/engines/processes/free-port'
import { startMongodb } from '@pitboss/engines/start-mongodb'
import { startNats } from '@pitboss/engines/start-nats'
import { badConfigExitCode } from '@pitboss/runtime/load-config'
import pino from 'pino'
import { type DemoAccount, prepareDemoAccount } from './demo-account.ts'
import { type DemoParts, prepareDemoParts } from './demo-parts.ts'
import { exchange } from './exchange.ts'
import type { LogOutput } from './log-output.ts'
import { writePrivateJson } from './state-file.ts'
import { StackError } from './stack-error.ts'
import type { StackOptions } from './stack-options.ts'
import { serviceSpecs } from './stack-services.ts'
import { type ProcessSpec, type SupervisedProcess, superviseProcess } from './supervised-process.ts'
import { waitUntil } from './wait-until.ts'

const demoWithinMs = 60_000
const readyWithinMs = 60_000
const drainMs = 10_000

export type Stack = {
  baseUrl: string
  dataDir: string
  demo: DemoAccount | null
  engines: { mongodb: { url: string; kind: string }; nats: { url: string; kind: string } }
  stop(): Promise<void>
  /** Ends every process at once; engines recover at the next start. */
  killNow(): void
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
    undo.push(claimDataDir(dataDir))
    if (options.fresh) dropState(dataDir)
    const port = options.port === 0 ? await freePort() : options.port
    if (!(await isFreePort(port))) {
      throw new StackError(
        `Port ${options.port} is taken. Stop what listens there, or choose another: npm start -- --port ${options.port + 1}`,
      )
    }
    const baseUrl = `http://127.0.0.1:${port}`
    const engineLogger = pino(
      {
        level: options.logLevel,
        base: { service: 'engines' },
        formatters: { level: (label) => ({ level: label }) },
        timestamp: pino.stdTimeFunctions.isoTime,
      },
      { write: (line) => output.line('engines', line) },
    )
    const [mongodb, nats] = await Promise.all([
      startMongodb({ dataDir: join(dataDir, 'mongodb'), withLogin: true, logger: engineLogger }),
      startNats({
        dataDir: join(dataDir, 'nats'),
        accounts: natsAccounts,
        logger: engineLogger,
      }),
    ])
    undo.push(
      () => mongodb.stop(),
      () => nats.stop(),
    )
    for (const [name, engine] of Object.entries({ mongodb, nats })) {
      output.say(`${name}: ${engine.kind} ${engine.version}`, { why: engine.reason })
    }
    signal.throwIfAborted()

    const ops = await connectBus({
      url: nats.url,
      service: 'ops',
      logger: engineLogger,
      ...(nats.seeds.ops === undefined ? {} : { nkeySeed: nats.seeds.ops }),
    })
    undo.push(() => ops.close())
    await applyTopology(ops.nc, { replicas: 1 })
    writePrivateJson(join(dataDir, 'connection.json'), {
      nats_url: nats.url,
      ...(nats.seeds.ops === undefined ? {} : { nats_nkey_seed: nats.seeds.ops }),
      ...(nats.monitorUrl === undefined ? {} : { nats_monitor_url: nats.monitorUrl }),
    })

    const specs = await serviceSpecs({
      options,
      port,
      baseUrl,
      mongodbUrl: mongodb.url,
      natsUrl: nats.url,
      seeds: nats.seeds,
      dataDir,
    })
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
    for (const spec of [...specs.filter(({ name }) => name !== 'gateway'), ...(parts?.specs ?? [])])
      launch(spec)
    // The gateways come last, so that whoever sees /readyz answer finds demo.json complete.
    if (parts !== null) demo = await makeDemo({ bus: ops, dataDir, parts, signal })
    for (const spec of specs.filter(({ name }) => name === 'gateway')) launch(spec)
    writeDemoFile()
    await waitUntil({
      what: `200 from ${baseUrl}/readyz`,
      timeoutMs: readyWithinMs,
      signal,
      attempt: async () =>
        (await fetch(`${baseUrl}/readyz`, { signal: AbortSignal.timeout(2000) })).ok ? true : null,
    })
    return {
      baseUrl,
      dataDir,
      demo,
      engines,
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

function claimDataDir(dataDir: string): Ended {
  let result: ClaimResult
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o755 })
    result = claimFile(join(dataDir, 'stack.lock'))
  } catch (cause) {
    throw new StackError(
      `PITBOSS_DATA_DIR or --data-dir names ${dataDir}, which cannot be used as the data folder: ${reasonOf(cause)}`,
      { exitCode: badConfigExitCode, cause },
    )
  }
  if ('heldBy' in result) {
    throw new StackError(
      `The data folder ${dataDir} is in use by another stack (process ${result.heldBy}). Stop that one, or choose another folder: npm start -- --data-dir <folder>`,
    )
  }
  return async () => result.claim.release()
}

/** Everything but the lock that this process holds. */
function dropState(dataDir: string): void {
  for (const name of [
    'mongodb',
    'nats',
    'wallet',
    'live-wallet',
    'receiver',
    'connection.json',
    'demo.json',
    'demo-account.json',
    'demo-ports.json',
    'master-keys.json',
  ]) {
    rmSync(join(dataDir, name), { recursive: true, force: true })
  }
}

async function makeDemo({
  bus,
  dataDir,
  parts,
  signal,
}: {
  bus: Bus
  dataDir: string
  parts: DemoParts
  signal: AbortSignal
}): Promise<DemoAccount> {
  const account = await waitUntil({
    what: 'The demo account',
    timeoutMs: demoWithinMs,
    signal,
    attempt: () => prepareDemoAccount({ bus, dataDir, urls: parts.urls }),
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
