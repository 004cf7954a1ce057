import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { type AccessWorld, okay } from './access-world.ts'
import type { Said } from '../../fixtures/witness.ts'

const needed = z.object({ details: z.tuple([z.object({ message: z.string() })]) })
const password = 'a second person watches'

/**
 * Has an account want a second person, asks `count` times to delete a LIVE key of it, and has two people end
 * that it wants one. @returns the ids of what waits
 */
export async function makeApprovals(world: AccessWorld, boss: string, count: number): Promise<string[]> {
  const { send, signIn } = world
  const email = `${randomUUID()}@casino.example`
  const second = { email, name: 'Second', role: 'ADMIN', password }
  okay(201, await send('POST', '/v1/dashboard/users', { token: boss, body: second }))
  const admin = await signIn({ email, password })
  const want = (second_person: boolean) =>
    send('PATCH', '/v1/business', { token: boss, body: { second_person } })
  okay(200, await want(true))
  const ids: string[] = []
  for (let one = 0; one < count; one++) {
    const { api_key } = await world.createKey(boss, { environment: 'LIVE', scopes: ['games:read'] })
    ids.push(idOf(await send('DELETE', `/v1/dashboard/credentials/${api_key}`, { token: admin })))
  }
  const end = `/v1/dashboard/approvals/${idOf(await want(false))}/approve`
  okay(200, await send('POST', end, { token: admin }))
  return ids
}

function idOf(said: Said): string {
  okay(409, said)
  if (said.code !== 'APPROVAL_NEEDED') throw new Error(`it needs no approval: ${said.text}`)
  return needed.parse(said.body).details[0].message
}
