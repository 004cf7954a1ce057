import { createHash, createHmac, pbkdf2Sync, randomBytes, timingSafeEqual } from 'node:crypto'

/** The login of one connection: what its client has said so far. */
export type Login = {
  readonly isDone: () => boolean
  /** The first message of the client. @returns the server's first, or null when it is refused */
  start(payload: string): string | null
  /** The client's last message. @returns the server's last, or null when the proof is wrong */
  finish(payload: string): string | null
}

const iterations = 4096
const keyBytes = 32
const hmac = (key: Buffer, text: string) => createHmac('sha256', key).update(text).digest()
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest()

/**
 * Logins of one user by SCRAM-SHA-256 without channel binding, for connections that each begin with none.
 * Source: RFC 5802 and 7677.
 */
export function createLogins({ user, password }: { user: string; password: string }): () => Login {
  const salt = randomBytes(16)
  const salted = pbkdf2Sync(password, salt, iterations, keyBytes, 'sha256')
  const storedKey = sha256(hmac(salted, 'Client Key'))
  const serverKey = hmac(salted, 'Server Key')

  return () => {
    let begun: { nonce: string; messages: string } | null = null
    let isDone = false
    return {
      isDone: () => isDone,
      start(payload) {
        const [, bare = '', name, clientNonce] = /^n,,(n=([^,]+),r=([!-+.-~]{8,128}))$/.exec(payload) ?? []
        isDone = false
        begun = null
        if (name !== user || clientNonce === undefined) return null
        const nonce = clientNonce + randomBytes(18).toString('base64')
        const first = `r=${nonce},s=${salt.toString('base64')},i=${iterations}`
        begun = { nonce, messages: `${bare},${first}` }
        return first
      },
      finish(payload) {
        const [, withoutProof = '', nonce, proof = ''] = /^(c=biws,r=([^,]+)),p=([^,]+)$/.exec(payload) ?? []
        const conversation = begun
        begun = null
        if (conversation === null || nonce !== conversation.nonce) return null
        const messages = `${conversation.messages},${withoutProof}`
        const signature = hmac(storedKey, messages)
        const given = Buffer.from(proof, 'base64')
        if (given.length !== keyBytes) return null
        const clientKey = Buffer.from(given.map((byte, index) => byte ^ (signature[index] ?? 0)))
        if (!timingSafeEqual(sha256(clientKey), storedKey)) return null
        isDone = true
        return `v=${hmac(serverKey, messages).toString('base64')}`
      },
    }
  }
}
