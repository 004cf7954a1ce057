import { once } from 'node:events'
import { createServer } from 'node:http'
import { listenLocally } from '@pitboss/testing/listen-locally'
import { z } from 'zod'

/** Events of so many rounds are accepted before the one that is not. */
const acceptedBefore = 3
/** One in so many requests is refused, once. */
const tenth = 10
const body = z.looseObject({
  id: z.string(),
  type: z.string(),
  data: z.looseObject({ round_id: z.string().optional() }),
})

export type StubbornReceiver = {
  readonly url: string
  /** Ids of the events that it has refused, and refuses for ever. */
  readonly refused: ReadonlySet<string>
  readonly accepted: ReadonlySet<string>
  /** Whether it refuses the event for ever: also one of its type that no request has brought yet. */
  refuses(event: { readonly id: string; readonly type: string }): boolean
  close(): Promise<void>
}

/** Requests that it refuses: all events of one round, all of one type, or one request in ten. */
export type Stubbornness = 'one round' | 'round.started' | 'transaction.win' | 'every tenth request'
export const stubbornnesses: readonly Stubbornness[] = [
  'one round',
  'round.started',
  'transaction.win',
  'every tenth request',
]

/**
 * A receiver that answers with 500 for as long as it runs what it does not like, and never fails else, as one
 * does whose database holds a row that it cannot process. It takes no part in other faults, so that nothing
 * else explains what becomes of those events, or of the others.
 */
export async function startStubbornReceiver(stubbornness: Stubbornness): Promise<StubbornReceiver> {
  const refused = new Set<string>()
  const accepted = new Set<string>()
  const rounds = new Set<string>()
  let refusedRound: string | null = null
  let requests = 0

  const isOfRound = (roundId: string | undefined) => {
    if (roundId === undefined) return false
    if (refusedRound === null) {
      rounds.add(roundId)
      if (rounds.size > acceptedBefore) refusedRound = roundId
    }
    return roundId === refusedRound
  }
  const answer = (text: string): number => {
    const { id, type, data } = body.parse(JSON.parse(text))
    requests += 1
    if (stubbornness === 'every tenth request') {
      if (requests % tenth === 0) return 500
      accepted.add(id)
      return 200
    }
    const isRefused = stubbornness === 'one round' ? isOfRound(data.round_id) : type === stubbornness
    ;(isRefused ? refused : accepted).add(id)
    return isRefused ? 500 : 200
  }
  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8')
    request.on('data', (chunk: string) => (text += chunk))
    request.on('end', () => {
      response.statusCode = answer(text)
      response.end()
    })
  })
  server.keepAliveTimeout = 65_000
  const port = await listenLocally(server)
  return {
    url: `http://127.0.0.1:${port}/`,
    refused,
    accepted,
    refuses: ({ id, type }) => refused.has(id) || type === stubbornness,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
