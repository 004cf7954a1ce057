import type { Cleanup } from '../harness/cleanup.ts'
import { createServiceWorld, type ServiceWorld } from '../harness/service-world.ts'

/** The webhooks service alone, on engines of its own. */
export function createWorld(cleanup: Cleanup): Promise<ServiceWorld> {
  const environment = { PITBOSS_ALLOW_LOOPBACK_WEBHOOKS: 'yes' }
  return createServiceWorld({ service: 'webhooks', environment, cleanup })
}
