import { createServer } from 'node:net'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { listenLocally } from './listen-locally.ts'

/** Answers of wallets and receivers as they are met in public bug reports, byte by byte. Source: ours. */

type Part = string | Buffer
export type OddAnswer = {
  readonly name: string
  /** Written one after the other, each with a write of its own. */
  readonly parts: readonly Part[]
  /** The connection ends after the last part; else it stays open. */
  readonly closes?: true
  /** What a client has of it: the text of the body, or a failure. Null: the time runs out. */
  readonly read: string | { readonly fails: RegExp } | null
  /** Whether a delivery that is answered so counts as delivered; by `read` unless given. */
  readonly isDelivered?: boolean
  readonly oddities?: readonly string[]
}

const ok = '{"status":"OK"}'
const crlf = '\r\n'
const head = (...headers: string[]) => ['HTTP/1.1 200 OK', ...headers, '', ''].join(crlf)
const final = head(`content-length: ${ok.length}`) + ok
const chunked = `f${crlf}${ok}${crlf}0${crlf}${crlf}`
const goOn = `HTTP/1.1 100 Continue${crlf}x-hint: yes${crlf}${crlf}`
const hints = `HTTP/1.1 103 Early Hints${crlf}link: </x>${crlf}${crlf}`
const bytes = (text: Part): Buffer => (typeof text === 'string' ? Buffer.from(text) : text)
const encoded = (encoding: string, body: Buffer) =>
  Buffer.concat([bytes(head(`content-encoding: ${encoding}`, `content-length: ${body.length}`)), body])
const typed = (type: string, body: Buffer) =>
  Buffer.concat([bytes(head(`content-type: ${type}`, `content-length: ${body.length}`)), body])
const [interim, both, repeated] = [['interim'], ['length-and-chunks'], ['repeated-length']]
const bodyLikeAHead = goOn + ok

export const oddAnswers: readonly OddAnswer[] = [
  { name: 'a plain answer', parts: [final], read: ok },
  { name: '100 Continue at once with the answer', parts: [goOn + final], read: ok, oddities: interim },
  { name: '100 Continue twice', parts: [goOn, goOn + final], read: ok, oddities: interim },
  { name: '100 Continue byte by byte', parts: Array.from(goOn + final), read: ok, oddities: interim },
  { name: '103, 100, then the answer', parts: [hints, goOn, final], read: ok, oddities: interim },
  {
    name: '100 Continue and nothing after it',
    parts: [goOn],
    closes: true,
    read: { fails: /UND_ERR_SOCKET|closed|hang up|reset/i },
  },
  {
    name: 'a body that looks like an interim answer',
    parts: [head(`content-length: ${bodyLikeAHead.length}`), bodyLikeAHead],
    read: bodyLikeAHead,
  },
  {
    name: 'a length beside chunks',
    parts: [head('content-length: 99', 'transfer-encoding: chunked') + chunked],
    read: ok,
    oddities: both,
  },
  {
    name: 'chunks, then a length, byte by byte',
    parts: Array.from(head('Transfer-Encoding: Chunked', 'Content-Length:15') + chunked),
    read: ok,
    oddities: both,
  },
  {
    name: '100 Continue and a length beside chunks',
    parts: [goOn + head('transfer-encoding: chunked', 'content-length: 15') + chunked],
    read: ok,
    oddities: [...interim, ...both],
  },
  {
    name: 'one length twice',
    parts: [head('content-length: 15', 'content-length: 15') + ok],
    read: ok,
    oddities: repeated,
  },
  {
    name: 'one length twice in a line',
    parts: [head('content-length: 15, 15') + ok],
    read: ok,
    oddities: repeated,
  },
  {
    name: 'two lengths',
    parts: [head('content-length: 15', 'content-length: 16') + ok],
    read: { fails: /LENGTH|length/ },
  },
  {
    name: 'an oddity that the peer names itself',
    parts: [head('x-pitboss-oddities: interim', 'content-length: 15') + ok],
    read: ok,
  },
  {
    name: 'a body that never ends',
    parts: [head('content-length: 99'), ok],
    read: null,
    isDelivered: true,
    oddities: ['unfinished'],
  },
  {
    name: 'chunks that never end',
    parts: [head('transfer-encoding: chunked'), `f${crlf}${ok}${crlf}`],
    read: null,
    isDelivered: true,
    oddities: ['unfinished'],
  },
  { name: 'a head that never ends', parts: ['HTTP/1.1 200 OK\r\ncontent-length: 15\r\n'], read: null },
  { name: 'silence', parts: [], read: null },
  {
    name: 'a head that breaks off',
    parts: ['HTTP/1.1 200 OK\r\ncontent-le'],
    closes: true,
    read: { fails: /UND_ERR_SOCKET|HPE_|closed|HTTP|hang up|reset/ },
  },
  {
    name: 'a body that breaks off',
    parts: [head('content-length: 99'), ok],
    closes: true,
    read: { fails: /UND_ERR|closed|aborted|reset|length/ },
    isDelivered: true,
  },
  { name: 'a body without a length, ended by the connection', parts: [head() + ok], closes: true, read: ok },
  {
    name: 'an answer after which the connection closes without a word',
    parts: [final],
    closes: true,
    read: ok,
  },
  { name: 'gzip', parts: [encoded('gzip', gzipSync(ok))], read: ok, oddities: ['encoded'] },
  { name: 'deflate', parts: [encoded('deflate', deflateSync(ok))], read: ok, oddities: ['encoded'] },
  {
    name: 'deflate without a head',
    parts: [encoded('deflate', deflateRawSync(ok))],
    read: ok,
    oddities: ['encoded'],
  },
  { name: 'br', parts: [encoded('br', brotliCompressSync(ok))], read: ok, oddities: ['encoded'] },
  { name: 'gzip that is none', parts: [encoded('gzip', bytes(ok))], read: ok, oddities: ['misencoded'] },
  {
    name: 'a bomb of gzip',
    parts: [encoded('gzip', gzipSync(Buffer.alloc(32 * 1024 * 1024)))],
    read: { fails: /64 KiB/ },
    isDelivered: true,
    oddities: ['encoded'],
  },
  {
    name: 'more than 64 KiB',
    parts: [head(), 'x'.repeat(70_000)],
    closes: true,
    read: { fails: /64 KiB/ },
    isDelivered: true,
  },
  { name: 'a byte order mark', parts: [typed('application/json', bytes(`\ufeff${ok}`))], read: ok },
  {
    name: 'another charset that is named',
    parts: [typed('application/json; charset=iso-8859-1', bytes(ok))],
    read: ok,
  },
  { name: 'HTTP/1.0', parts: [`HTTP/1.0 200 OK${crlf}${crlf}${ok}`], closes: true, read: ok },
  {
    name: 'line feeds alone',
    parts: [`HTTP/1.1 200 OK\ncontent-length: 15\n\n${ok}`],
    read: { fails: /HPE_|HTTP/ },
  },
  { name: 'no HTTP', parts: ['220 mail.example ESMTP\r\n'], read: { fails: /HPE_|HTTP/ } },
  {
    name: 'a status that no answer has',
    parts: ['HTTP/1.1 099 X\r\ncontent-length: 15\r\n\r\n', ok],
    read: { fails: /ERR_ASSERTION|HPE_|status|HTTP/ },
  },
  {
    name: 'a switch of protocols',
    parts: [`HTTP/1.1 101 Switching Protocols${crlf}${crlf}`],
    read: { fails: /ERR_ASSERTION|UND_ERR_SOCKET|status|closed|hang up/ },
  },
]

/**
 * A server that answers each request with `one`, until `close`. A request ends with the last byte of `body`.
 */
export async function serveOddAnswer(one: OddAnswer, body: string) {
  const open = new Set<{ destroy(): void }>()
  const server = createServer((socket) => {
    open.add(socket.setNoDelay(true))
    socket.on('error', () => undefined).on('close', () => open.delete(socket))
    const send = ([part, ...rest]: readonly Part[]): void => {
      if (part !== undefined) socket.write(part, () => setImmediate(() => send(rest)))
      else if (one.closes === true) socket.end()
    }
    socket.on('data', (request) => {
      if (request.toString('latin1').endsWith(body)) send(one.parts)
    })
  })
  const port = await listenLocally(server)
  return {
    url: `http://127.0.0.1:${port}`,
    close() {
      for (const socket of open) socket.destroy()
      server.close()
    },
  }
}
