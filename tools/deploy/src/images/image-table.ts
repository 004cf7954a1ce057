/** One of our images: the folder whose packages it holds, and what it runs. */
export type ImageSpec = {
  readonly name: string
  readonly folder: string
  readonly title: string
  readonly entrypoint: readonly string[]
  /** Arguments, which a manifest or a person may replace. */
  readonly command: readonly string[]
  readonly ports: readonly string[]
}

/** User and group of every image. Source: deploy/k8s/base/pods.yaml. */
export const imageUser = 65_532

/**
 * Node's permission model: files below `/app` can be read; nothing can be written or started, and no addon
 * loaded.
 */
const permissions = ['--permission', '--allow-fs-read=/app']

/** As the manifests have it, so that an image is no less guarded where somebody runs it without them. */
const ofService = ['node', '--disable-sigusr1', '--max-old-space-size-percentage=70', ...permissions]

const service = (name: string, { flags = [], ports = [] }: { flags?: string[]; ports?: string[] } = {}) => ({
  name,
  folder: `services/${name}`,
  title: `Pitboss ${name}`,
  entrypoint: ofService,
  command: [...flags, `services/${name}/src/main.ts`],
  ports: [...ports, '9090'],
})

export const images: readonly ImageSpec[] = [
  // Young objects of many connections take less memory and no more time: docs/benchmarks.md.
  service('gateway', { flags: ['--max-semi-space-size=8'], ports: ['8080'] }),
  // argon2, which hashes passwords, is a native addon.
  service('auth', { flags: ['--allow-addons'] }),
  service('rounds'),
  service('wallet-bridge'),
  service('webhooks'),
  {
    name: 'ops',
    folder: 'tools/ops',
    title: 'Pitboss operations command',
    entrypoint: ['node', '--disable-sigusr1', ...permissions],
    command: ['tools/ops/src/main.ts'],
    ports: [],
  },
]
