import { createServer, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { listenLocally } from '@pitboss/testing/listen-locally'
import { z } from 'zod'
import type { controlLine } from '../entries/control-line.ts'
import { readLines } from '../entries/read-lines.ts'
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts'
import { type ElectionProxy, startElectionProxy } from './start-election-proxy.ts'

const hello = z.object({
  service: z.string(),
  probePort: z.number(),
  natsUrl: z.string(),
  mongodbUrl: z.string().optional(),
})

/** What lies between one replica and its engines, over all its processes. */
export type ServiceLink = {
  readonly service: string
  /** Port of its probes: it tells replicas apart. */
  readonly probePort: number
  readonly nats: FaultProxy
  /** Null for the gateway, which has no database. */
  readonly database: ElectionProxy | null
  clockOffsetMs(): number
  /** Sets the clock of the process that runs now, and of those after it, so many ms off. */
  setClock(offsetMs: number): void
}

export type ServiceLinks = {
  /** Settings with which the product starts its services behind the proxies. */
  readonly environment: NodeJS.ProcessEnv
  all(): readonly ServiceLink[]
  /** All links whole, all clocks right. */
  calm(): void
  close(): Promise<void>
}

type Line = z.infer<typeof controlLine>

/** Puts proxies between services and engines: each replica that starts asks here for its addresses. */
export async function startServiceLinks(): Promise<ServiceLinks> {
  const links = new Map<number, ServiceLink>()
  const making = new Map<number, Promise<ServiceLink & { speaker: Speaker }>>()
  const sockets = new Set<Socket>()

  const serve = async (socket: Socket, line: string) => {
    const given = hello.parse(JSON.parse(line))
    const { probePort, natsUrl, mongodbUrl } = given
    const made = making.get(probePort) ?? makeLink(given)
    making.set(probePort, made)
    const link = await made
    links.set(probePort, link)
    const { nats, database, speaker } = link
    speaker.socket = socket
    say(socket, {
      natsUrl: through(natsUrl, nats),
      ...(mongodbUrl === undefined || database === null
        ? {}
        : { mongodbUrl: withRetries(through(mongodbUrl, database), probePort % 2 === 0) }),
      clockOffsetMs: link.clockOffsetMs(),
    })
  }
  const listener = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
    readLines(socket, (line) => {
      serve(socket, line).catch((error: unknown) =>
        socket.destroy(error instanceof Error ? error : undefined),
      )
    })
  })
  const port = await listenLocally(listener)
  const proxies = () => [...links.values()].flatMap(({ nats, database }) => [nats, database ?? []].flat())
  return {
    environment: {
      PITBOSS_SERVICE_ENTRIES: fileURLToPath(new URL('../entries/', import.meta.url)),
      PITBOSS_PROOF_CONTROL: String(port),
    },
    all: () => [...links.values()],
    calm() {
      for (const proxy of proxies()) proxy.calm()
      for (const link of links.values()) link.setClock(0)
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      listener.close()
      for (const proxy of proxies()) await proxy.close()
    },
  }
}

type Speaker = { socket: Socket | null }

async function makeLink({ service, probePort, natsUrl, mongodbUrl }: z.infer<typeof hello>) {
  const speaker: Speaker = { socket: null }
  const nats = await startFaultProxy({ target: targetOf(natsUrl) })
  const database = mongodbUrl === undefined ? null : await startElectionProxy(targetOf(mongodbUrl))
  let clockOffsetMs = 0
  return {
    ...{ service, probePort, nats, database, speaker },
    clockOffsetMs: () => clockOffsetMs,
    setClock(offsetMs: number) {
      if (offsetMs === clockOffsetMs) return
      clockOffsetMs = offsetMs
      if (speaker.socket !== null) say(speaker.socket, { clockOffsetMs })
    },
  }
}

function say(socket: Socket, line: Line): void {
  if (!socket.destroyed) socket.write(`${JSON.stringify(line)}\n`)
}

function targetOf(url: string): { host: string; port: number } {
  const { hostname, port } = new URL(url)
  return { host: hostname, port: Number(port) }
}

/** The same address, with the proxy's port. */
function through(url: string, { port }: FaultProxy): string {
  const changed = new URL(url)
  changed.hostname = '127.0.0.1'
  changed.port = String(port)
  return changed.href
}

/**
 * Half of the replicas let the driver repeat a write, as a cluster's address does; the embedded one's does
 * not.
 */
function withRetries(url: string, retries: boolean): string {
  const changed = new URL(url)
  changed.searchParams.set('retryWrites', String(retries))
  return changed.href
}
