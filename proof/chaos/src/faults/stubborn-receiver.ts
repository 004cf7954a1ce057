import { once } from 'node:events'
import { createServer } from 'node:http'
import { z } from 'zod'

/** Events of so many rounds are accepted before the one that is not. */
const acceptedBefore = 3
const body = z.looseObject({ id: z.string(), data: z.looseObject({ round_id: z.string().optional() }) })

export type StubbornReceiver = {
  readonly url: string
  /** Ids of the events that it has refused, and refuses for ever. */
  readonly refused: ReadonlySet<string>
  readonly accepted: ReadonlySet<string>
  close(): Promise<void>
}

/**
 * A receiver that never fails but for one round, whose events it answers with 500 for as long as it runs,
 * as one does whose database holds a row that it cannot process. It takes no part in other faults, so that
 * nothing else explains what becomes of those events, or of the others.
 */
export async function startStubbornReceiver(): Promise<StubbornReceiver> {
  const refused = new Set<string>()
  const accepted = new Set<string>()
  const rounds = new Set<string>()
  let refusedRound: string | null = null

  const answer = (text: string): number => {
    const { id, data } = body.parse(JSON.parse(text))
    const roundId = data.round_id ?? null
    if (roundId !== null && refusedRound === null) {
      rounds.add(roundId)
      if (rounds.size > acceptedBefore) refusedRound = roundId
    }
    const isRefused = roundId !== null && roundId === refusedRound
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
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the receiver has no port')
  return {
    url: `http://127.0.0.1:${address.port}/`,
    refused,
    accepted,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
