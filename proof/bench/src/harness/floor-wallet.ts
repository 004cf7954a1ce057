import { signatureTimestamp, signBody } from '@pitboss/signing/body-signature'
import type { Pool } from 'undici'

const walletSecret = 'the floor has a secret too'

/** A signed call, as a wallet gets it. @throws Error unless the wallet answers 200. */
export async function callFloorWallet(
  wallet: Pool,
  path: string,
  body: string,
): Promise<{ statusCode: number; text: string }> {
  const timestamp = signatureTimestamp(new Date())
  const { statusCode, body: answer } = await wallet.request({
    method: 'POST',
    path,
    headers: {
      'content-type': 'application/json',
      'x-timestamp': timestamp,
      'x-signature': signBody(walletSecret, timestamp, body),
    },
    body,
  })
  const text = await answer.text()
  if (statusCode !== 200) throw new Error(`the wallet answered ${statusCode}`)
  return { statusCode, text }
}
