import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Registry } from 'prom-client'
import { createScrape } from './scrape.ts'
import { within } from './within.ts'

type ProbeServer = { readonly port: number; close(): Promise<void> }

/**
 * Serves `/healthz` (200 while the process lives), `/readyz` (200, or 503 naming the missing parts) and
 * `/metrics` for probes. `missing` must answer in bounded time.
 * @throws when the port is taken.
 */
export async function startProbeServer({
  port,
  host,
  missing,
  registry,
}: {
  port: number
  host: string
  missing: () => Promise<string[]>
  registry: Registry
}): Promise<ProbeServer> {
  const server = createServer((request, response) => {
    answer(request.url ?? '/', response).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : new Error('probe failed'))
    })
  })
  const scrape = createScrape(registry)
  server.requestTimeout = 5000
  server.headersTimeout = 5000
  server.maxConnections = 64

  async function answer(url: string, response: ServerResponse): Promise<void> {
    const path = url.split('?')[0]
    if (path === '/healthz') return send(response, 200, { status: 'ok' })
    if (path === '/readyz') {
      const names = await missing()
      if (names.length === 0) return send(response, 200, { status: 'ready' })
      return send(response, 503, { status: 'not ready', missing: names })
    }
    if (path === '/metrics') {
      const text = await scrape()
      response.writeHead(200, { 'content-type': registry.contentType })
      response.end(text)
      return
    }
    send(response, 404, { status: 'unknown path' })
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  return {
    port: portOf(server.address()),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
  response.end(JSON.stringify(body))
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new Error('the probe server has no port')
  return address.port
}

const checkTimeoutMs = 1000

/** True when fine. A rejection or more than a second count as missing. */
export type ReadinessCheck = () => boolean | Promise<boolean>

type Readiness = {
  check: (name: string, check: ReadinessCheck) => void
  missing: () => Promise<string[]>
}

/** Named checks; `missing()` names those that fail now, in the order of their registration. Never rejects. */
export function createReadiness(): Readiness {
  const checks = new Map<string, ReadinessCheck>()
  return {
    check(name: string, check: ReadinessCheck): void {
      checks.set(name, check)
    },
    async missing(): Promise<string[]> {
      const results = await Promise.all(
        [...checks].map(async ([name, check]) => ((await passes(check)) ? null : name)),
      )
      return results.filter((name) => name !== null)
    },
  }
}

async function passes(check: ReadinessCheck): Promise<boolean> {
  try {
    return (await within(Promise.resolve(check()), checkTimeoutMs)) ?? false
  } catch {
    return false
  }
}
