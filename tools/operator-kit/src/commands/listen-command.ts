import { join } from 'node:path'
import { shown, shownInLine, shownJson } from '@pitboss/contracts/acting-characters'
import pc from 'picocolors'
import { createExchange } from '../certify/exchange.ts'
import { openJournal } from '../shared/journal.ts'
import { createRawApp, rawBody } from '../shared/raw-app.ts'
import { verify } from '../verify-webhook.ts'

const FORWARD_TIMEOUT_MS = 15_000
const FORWARDED_HEADERS = ['content-type', 'user-agent']

export type ListenOptions = {
  port: number
  secrets: readonly string[]
  forwardTo: string | null
  /** Folder in which `events.jsonl` keeps what verified and was accepted; null keeps nothing. */
  saveTo: string | null
  json: boolean
}

/**
 * A local receiver that prints every delivery, says whether it verifies, and hands verified ones on byte for
 * byte. The sender gets the answer of the receiver behind it; 401 for a delivery that does not verify, 502
 * when the receiver behind does not answer. Runs until interrupted.
 */
export async function listenCommand({
  port,
  secrets,
  forwardTo,
  saveTo,
  json,
}: ListenOptions): Promise<number> {
  const exchange = createExchange()
  const journal = saveTo === null ? null : await openJournal(join(saveTo, 'events.jsonl'), () => undefined)
  const app = createRawApp()
  const say = (line: string, record: object): void => {
    process.stdout.write(json ? `${shownJson(record)}\n` : `${line}\n`)
  }
  app.post('/*', async (request, reply) => {
    const body = rawBody(request.body)
    const result = await verify(request.headers, body, secrets)
    const at = new Date().toISOString()
    const heads = ['x-svc-event-type', 'x-svc-event-id', 'x-svc-delivery-attempt'].map((name) =>
      shownInLine(String(request.headers[name] ?? '-')),
    )
    const what = `${at} ${heads[0]} ${pc.dim(`${heads[1]} attempt ${heads[2]}`)}`
    const record = { at, event_type: heads[0], event_id: heads[1], attempt: heads[2], verified: result.ok }
    if (!result.ok) {
      say(`${what} ${pc.red(`not verified: ${shownInLine(result.message)}`)}`, {
        ...record,
        reason: result.reason,
      })
      return reply.code(401).send({ reason: result.reason, message: result.message })
    }
    const save = async (): Promise<void> => {
      journal?.append({ ...record, event: body.toString('utf8') })
      await journal?.settled()
    }
    if (forwardTo === null) {
      await save()
      say(`${what} ${pc.green('verified')}\n${shown(body.toString('utf8'))}`, {
        ...record,
        event: body.toString('utf8'),
      })
      return reply.code(200).send({ received: true })
    }
    const headers = forwardedHeaders(request.headers)
    const answer = await exchange.post({ url: forwardTo, headers, body, timeoutMs: FORWARD_TIMEOUT_MS })
    const status = answer.kind === 'answer' ? answer.httpStatus : 502
    const outcome = answer.kind === 'answer' ? `→ ${status}` : `→ ${shownInLine(answer.error)}`
    say(
      `${what} ${pc.green('verified')} ${status < 300 ? outcome : pc.red(outcome)} in ${answer.latencyMs} ms`,
      {
        ...record,
        ...{ forwarded_status: answer.kind === 'answer' ? status : null, latency_ms: answer.latencyMs },
      },
    )
    if (status >= 200 && status < 300) await save()
    return reply.code(status).send(answer.kind === 'answer' ? answer.body : { message: answer.error })
  })
  const url = await app.listen({ host: '127.0.0.1', port })
  say(`Listening on ${url}${forwardTo === null ? '' : `, forwarding to ${forwardTo}`}`, { ready: true, url })
  await stopSignal()
  await app.close()
  exchange.close()
  await journal?.close()
  return 0
}

function forwardedHeaders(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const forwarded: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    const wanted = name.startsWith('x-svc-') || FORWARDED_HEADERS.includes(name)
    if (wanted && typeof value === 'string') forwarded[name] = value
  }
  return forwarded
}

/** Resolves on the first SIGINT or SIGTERM. */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGINT', () => resolve())
    process.once('SIGTERM', () => resolve())
  })
}
