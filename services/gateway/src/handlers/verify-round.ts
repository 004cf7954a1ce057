import { verifyRound as verify } from '@pitboss/fairness/verify-round'
import type { Answer, Inbound } from '../http/inbound.ts'

/** `POST /v1/public/verify`: the same code as the page and the command. */
export async function verifyRound(inbound: Inbound): Promise<Answer> {
  return { status: 200, json: verify(inbound.body) }
}
