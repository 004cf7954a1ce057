import { createOperatorClient, send } from '@pitboss/testing/operator-client'
import { runStack } from '@pitboss/testing/run-stack'
import { z } from 'zod'

type Suite = Parameters<typeof runStack>[0]
type Asked = ReturnType<typeof send>

export type ClientsWorld = {
  base: string
  /** The description that the product gives of itself. */
  description: unknown
  /** As the operator's server, under `/v1`. */
  server(method: string, path: string, body?: unknown): Asked
  /** As the account's owner, under `/v1/dashboard`. */
  owner(method: string, path: string, body?: unknown): Asked
  openSession: Awaited<ReturnType<typeof createOperatorClient>>['openSession']
}

/** The whole product, as real clients meet it; each answer is held against its description. */
export async function startClientsWorld(t: Suite): Promise<ClientsWorld> {
  const stack = await runStack(t, [], {
    PITBOSS_LIMIT_OPERATOR_PER_S: '100000',
    PITBOSS_LIMIT_DASHBOARD_PER_S: '100000',
  })
  const demo = stack.demo()
  const operator = await createOperatorClient(demo)
  const { body: login } = await send('POST', `${demo.base_url}/v1/dashboard/login`, { body: demo.dashboard })
  const token = z.string().parse(login.access_token)
  const described = await fetch(`${demo.base_url}/v1/public/openapi.json`)
  return {
    base: demo.base_url,
    description: await described.json(),
    server: operator.call,
    owner: (method, path, body) =>
      send(method, `${demo.base_url}/v1/dashboard${path}`, {
        token,
        ...(body === undefined ? {} : { body }),
      }),
    openSession: operator.openSession,
  }
}
