import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { listenLocally } from './listen-locally.ts'
import { readSpans, type SpanRecord } from './read-spans.ts'

export type Collector = {
  /** What OTEL_EXPORTER_OTLP_ENDPOINT is to be. */
  readonly url: string
  readonly spans: readonly SpanRecord[]
  /** Requests that were no export of traces. */
  readonly others: readonly string[]
}

/** A collector of traces by OTLP over HTTP in protobuf, which keeps what it gets. */
export async function startCollector(t: { teardown(fn: () => Promise<void>): void }): Promise<Collector> {
  const spans: SpanRecord[] = []
  const others: string[] = []
  const server = createServer((request, response) => {
    const { method, url, headers } = request
    if (method !== 'POST' || url !== '/v1/traces' || headers['content-type'] !== 'application/x-protobuf') {
      others.push(`${method} ${url} ${headers['content-type']}`)
      response.writeHead(415).end()
      return
    }
    buffer(request).then(
      (body) => {
        spans.push(...readSpans(body))
        response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end()
      },
      () => response.destroy(),
    )
  })
  const port = await listenLocally(server)
  t.teardown(async () => {
    server.closeAllConnections()
    await new Promise<void>((resolve) => {
      server.close(() => resolve())
    })
  })
  return { url: `http://127.0.0.1:${port}`, spans, others }
}
