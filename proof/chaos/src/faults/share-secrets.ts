import type { Tenancy } from '../open-tenancies.ts'
import { untilStatus } from '../operator-client.ts'
import { send } from '../send.ts'

type Owner = Pick<Tenancy, 'environment' | 'personToken' | 'walletUrl'>

export type ShareSecrets = ReturnType<typeof createShareSecrets>

/** Creates the rotation of the secrets that the product and the operators' wallets share. */
export function createShareSecrets(baseUrl: string, ask = send) {
  /** Owners of whom a rotation had no answer. */
  const unsure = new Set<Owner>()
  return { rotate, tellWallet, settle }

  /**
   * Goes on until both sides know the same secret: an answer that was lost took one with it.
   * @returns the secret
   */
  async function rotate(owner: Owner): Promise<unknown> {
    const { environment, personToken: token } = owner
    const route = `${baseUrl}/v1/dashboard/wallets/${environment}/rotate-secret`
    const rotated = await untilStatus(200, async () => {
      // Each answer is looked at: one that says to come again may have been done all the same.
      const answer = await ask('POST', route, { token, isPatient: false })
      if (answer.status !== 200) unsure.add(owner)
      return answer
    })
    const { secret } = rotated.body
    await tellWallet(owner, secret)
    return secret
  }

  async function tellWallet({ walletUrl }: Owner, secret: unknown): Promise<void> {
    await untilStatus(204, () => ask('PUT', `${walletUrl}/sandbox/secret`, { body: { secret } }))
  }

  /**
   * Rotates once more where a request had no answer, its own included: a process that stood still may have
   * done it long after the next one was answered. To be called when every process runs again.
   */
  async function settle(): Promise<void> {
    while (unsure.size > 0) {
      const owners = [...unsure]
      unsure.clear()
      for (const owner of owners) await rotate(owner)
    }
  }
}
