import { appendFileSync } from 'node:fs'
import { once } from 'node:events'
import { type ClientRequest, createServer, type IncomingMessage, request as requestOf } from 'node:http'
import { listenLocally } from '@pitboss/testing/listen-locally'
import { z } from 'zod'
import type { WalletCall } from '../check/rows.ts'
import type { Random } from '../random.ts'

export type CallRecorder = {
  /** Sends so many of the calls twice, as a network does that repeats a request. Probability from 0 to 1. */
  double(probability: number): void
  /** Address of the wallet for the product. */
  readonly url: string
  /** Every call that came, also those that the wallet never got, in their order. */
  readonly calls: readonly WalletCall[]
  close(): Promise<void>
}

const ids = /"(?:transactionId)":"([^"]*)"/
const copyLateMs = { least: 1, most: 1500 }
/** Refusals are short. */
const answerBytesMax = 4096
const refusal = z.looseObject({
  status: z.string().refine((code) => !['OK', 'DUPLICATE', 'TEMPORARY_ERROR'].includes(code)),
})

export type WalletAnswer = { status: number; body: Buffer }

/**
 * Stands before a wallet and keeps every call, in memory and as lines of a file: the wallet's own log ends
 * with its process. Whatever the wallet does to a connection, it does to the caller's. Refused debits stay
 * refused, as docs/contract.md, section 12 asks of every wallet, also one that was refused before the wallet
 * looked into it (a signature by a secret that it did not know yet): its copy arrives late.
 */
export async function recordCalls({
  walletUrl,
  path,
  refused,
  random,
}: {
  walletUrl: string
  /** Refusals so far, by the debit's id; of all addresses of this wallet. */
  refused: Map<string, WalletAnswer>
  /** File of the calls. */
  path: string
  random: Random
}): Promise<CallRecorder> {
  const target = new URL(walletUrl)
  const copies = new Set<NodeJS.Timeout>()
  /** Copies that the wallet has not answered yet. */
  const unanswered = new Set<ClientRequest>()
  let doubled = 0
  const calls: WalletCall[] = []
  const keep = (call: WalletCall) => {
    calls.push(call)
    appendFileSync(path, `${JSON.stringify(call)}\n`)
  }
  const noteAnswer = (id: string | null, answer: IncomingMessage) => {
    const parts: Buffer[] = []
    answer.on('data', (part: Buffer) => parts.push(part))
    answer.on('end', () => {
      const noted = { status: answer.statusCode ?? 0, body: Buffer.concat(parts) }
      if (id !== null && noted.body.length <= answerBytesMax && isRefusal(noted)) refused.set(id, noted)
    })
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
    const options = {
      host: target.hostname,
      port: target.port,
      path: incoming.url,
      method: incoming.method,
      headers: incoming.headers,
      agent: false,
    }
    const ask = () => {
      // The caller has gone before its request was read whole: the wallet never gets it.
      if (isKept) return
      const body = Buffer.concat(chunks)
      const id = call.operation === 'debit' ? (ids.exec(body.toString())?.[1] ?? null) : null
      const known = id === null ? undefined : refused.get(id)
      if (known !== undefined) {
        outgoing.writeHead(known.status, { 'content-type': 'application/json' }).end(known.body)
        return
      }
      const upstream = requestOf(options, (answer) => {
        noteAnswer(id, answer)
        outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders)
        answer.on('error', () => outgoing.destroy())
        answer.pipe(outgoing)
      })
      upstream.on('error', () => incoming.socket.resetAndDestroy())
      outgoing.on('close', () => upstream.destroy())
      upstream.end(body)
      if (random.chance(doubled)) copy(id, body)
    }
    const copy = (id: string | null, body: Buffer) => {
      const ms = random.between(copyLateMs.least, copyLateMs.most)
      const timer = setTimeout(() => {
        copies.delete(timer)
        if (id !== null && refused.has(id)) return
        const again = requestOf(options, (answer) => {
          noteAnswer(id, answer)
          answer.on('error', () => undefined)
        })
        unanswered.add(again)
        again.on('error', () => undefined)
        again.on('close', () => unanswered.delete(again))
        again.end(body)
      }, ms)
      copies.add(timer)
    }
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', ask)
    outgoing.on('close', end)
  })
  server.keepAliveTimeout = 65_000
  const port = await listenLocally(server)
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    double(probability) {
      doubled = probability
    },
    async close() {
      for (const timer of copies) clearTimeout(timer)
      for (const copy of unanswered) copy.destroy()
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function isRefusal({ status, body }: WalletAnswer): boolean {
  if (status !== 200 && (status < 400 || status >= 500 || status === 429)) return false
  try {
    return refusal.safeParse(JSON.parse(body.toString())).success
  } catch {
    return false
  }
}
