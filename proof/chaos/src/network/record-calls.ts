import { appendFileSync } from 'node:fs'
import { once } from 'node:events'
import { createServer, request as requestOf } from 'node:http'
import type { WalletCall } from '../check/rows.ts'

export type CallRecorder = {
  /** Address of the wallet for the product. */
  readonly url: string
  /** Every call that came, also those that the wallet never got, in their order. */
  readonly calls: readonly WalletCall[]
  close(): Promise<void>
}

const ids = /"(?:transactionId)":"([^"]*)"/

/**
 * Stands before a wallet and keeps every call, in memory and as lines of a file: the wallet's own log ends
 * with its process. Whatever the wallet does to a connection, it does to the caller's.
 */
export async function recordCalls(walletUrl: string, path: string): Promise<CallRecorder> {
  const target = new URL(walletUrl)
  const calls: WalletCall[] = []
  const keep = (call: WalletCall) => {
    calls.push(call)
    appendFileSync(path, `${JSON.stringify(call)}\n`)
  }
  let seq = 0

  const server = createServer((incoming, outgoing) => {
    const startedMs = performance.now()
    const call = { seq: (seq += 1), at: new Date().toISOString(), operation: (incoming.url ?? '').slice(1) }
    const chunks: Buffer[] = []
    let isKept = false
    const end = () => {
      if (isKept) return
      isKept = true
      const body = Buffer.concat(chunks).toString()
      const duration_ms = performance.now() - startedMs
      keep({ ...call, transaction_id: ids.exec(body)?.[1] ?? null, duration_ms, body })
    }
    const upstream = requestOf({
      host: target.hostname,
      port: target.port,
      path: incoming.url,
      method: incoming.method,
      headers: incoming.headers,
      agent: false,
    })
    upstream.on('response', (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders)
      answer.on('error', () => outgoing.destroy())
      answer.on('aborted', () => outgoing.destroy())
      answer.pipe(outgoing)
    })
    upstream.on('error', () => incoming.socket.resetAndDestroy())
    incoming.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      upstream.write(chunk)
    })
    incoming.on('end', () => upstream.end())
    outgoing.on('close', () => {
      end()
      upstream.destroy()
    })
  })
  server.keepAliveTimeout = 65_000
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the recorder has no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    calls,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
