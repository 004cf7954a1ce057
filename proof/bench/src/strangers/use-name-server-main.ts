import { Resolver } from 'node:dns/promises'

/*
 * Loaded before a service (`--import`): its resolvers ask the name server that PITBOSS_LIMIT_NAME_SERVER
 * names. A prefix that the stack hands on to its services.
 */

const server = process.env.PITBOSS_LIMIT_NAME_SERVER
const told = new WeakSet<Resolver>()
const { resolve4, resolve6 } = Resolver.prototype
if (server !== undefined) {
  for (const [name, resolve] of Object.entries({ resolve4, resolve6 })) {
    Reflect.set(Resolver.prototype, name, function ask(this: Resolver, ...query: unknown[]) {
      // A resolver with queries under way refuses it.
      if (!told.has(this)) this.setServers([server])
      told.add(this)
      return Reflect.apply(resolve, this, query)
    })
  }
}
