import type { Exchanged, Oddity } from './exchange.ts'
import { CaseFailure, type CertificationCase, defineCase } from './run-cases.ts'

/** A certified party as HTTP sees it. */
export type Peer = {
  readonly what: 'wallet' | 'receiver'
  /** A signed request that changes nothing of importance. */
  probe(): Promise<Exchanged>
}

const notes: Readonly<Record<Exclude<Oddity, 'unfinished'>, string>> = {
  interim:
    'Interim answers (100 Continue, or another 1xx) came before the final one, though nobody asked for one. They are passed over.',
  'length-and-chunks':
    'The answer has both Content-Length and Transfer-Encoding: chunked. The chunks are read, and the connection ends.',
  'repeated-length': 'The answer says the same Content-Length several times. It is read once.',
  encoded:
    'The answer is encoded (gzip, deflate or br), though requests say accept-encoding: identity. It is decoded.',
  misencoded: 'The answer says that it is encoded, and is not. It is read as it is.',
}

/**
 * How answers come over HTTP: what cannot be read fails, what is odd and taken all the same is noted. These
 * come first, so that whatever makes all answers unreadable is named once.
 */
export function httpCases<Context extends Peer>(): readonly CertificationCase<Context>[] {
  return [
    defineCase('shape', 'http-answer', {
      title: 'A request is answered over HTTP, in time and to the end',
      hint: 'Check the address, and that the server runs and lets us in.',
      run: async (peer) => void (await answerOf(peer)),
    }),
    defineCase('shape', 'http-end', {
      title: 'The body of an answer ends',
      hint: 'End the response (in Node response.end(), in PHP fastcgi_finish_request()) before you go on working: each answer holds one of your places for a second else.',
      endsAll:
        'The bodies of answers do not end, and every other case would wait for that. Put that right, then certify again.',
      async run(peer) {
        if ((await answerOf(peer)).oddities.includes('unfinished'))
          throw new CaseFailure('the status came, and the body did not end within a second')
      },
    }),
    noted('http-interim', 'Interim answers before the final one are passed over', ['interim']),
    noted('http-length', 'The length of an answer is said once', ['length-and-chunks', 'repeated-length']),
    noted('http-encoding', 'Answers come without an encoding, as they are asked for', [
      'encoded',
      'misencoded',
    ]),
  ]
}

/** Passes, with a note for each of these that the answer shows. */
function noted<Context extends Peer>(
  id: string,
  title: string,
  about: readonly Exclude<Oddity, 'unfinished'>[],
): CertificationCase<Context> {
  return defineCase('shape', id, {
    title,
    hint: 'Check the address, and that the server runs and lets us in.',
    async run(peer) {
      const { oddities } = await answerOf(peer)
      return about.flatMap((one) => (oddities.includes(one) ? [notes[one]] : [])).join(' ')
    },
  })
}

async function answerOf(peer: Peer) {
  const exchanged = await peer.probe()
  if (exchanged.kind === 'failure') throw new CaseFailure(exchanged.error, exchanged.remedy)
  return exchanged
}
