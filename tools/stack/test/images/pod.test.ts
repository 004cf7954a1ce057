import t from 'tap'
import { podOf } from '../../src/images/pod.ts'

t.test('a pod has the settings of its service, and nothing else of the machine', async (t) => {
  const environment = {
    PATH: '/usr/bin',
    HOME: '/root',
    CONTAINERS_CONF: '/etc/c.conf',
    NODE_OPTIONS: '--inspect',
    PORT: '8080',
    MONGODB_URL: 'mongodb://x',
    NATS_NKEY_SEED: 'SUAM',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318',
    PITBOSS_PROBE_PORT: '9090',
  }
  const namesOf = (more: Record<string, string>) =>
    podOf({ name: 'p', image: 'i', environment: { ...environment, ...more } }).spec.containers[0]?.env
  t.strictSame(
    namesOf({})?.map(({ name }) => name),
    [
      'NODE_ENV',
      'PORT',
      'MONGODB_URL',
      'NATS_NKEY_SEED',
      'OTEL_EXPORTER_OTLP_ENDPOINT',
      'PITBOSS_PROBE_PORT',
    ],
  )
  t.match(namesOf({}), [{ name: 'NODE_ENV', value: 'development' }], 'not the production of the image')
  t.match(namesOf({ NODE_ENV: 'production' }), [{ name: 'NODE_ENV', value: 'production' }])
})
