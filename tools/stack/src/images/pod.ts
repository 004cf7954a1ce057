const containerName = 'service'
/** As in deploy/k8s/base/pods.yaml. */
const imageUser = 65_532
/** What a service reads; whatever else is in the runner's environment is of the machine. */
const isOfService = /^(PITBOSS_|OTEL_|NATS_|MONGODB_URL$|NODE_ENV$|PORT$|HOST$|TZ$)/

/**
 * A pod for `podman kube play`: the image's own command under the security context of the manifests, on the
 * network of the machine. Source: deploy/k8s/base/pods.yaml.
 */
export function podOf({
  name,
  image,
  environment,
}: {
  name: string
  image: string
  environment: Readonly<Record<string, string | undefined>>
}) {
  // The image itself says production, which refuses the loopback addresses of a stack on one machine.
  const settings = Object.entries({ NODE_ENV: 'development', ...environment })
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: {
      hostNetwork: true,
      restartPolicy: 'Never',
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: imageUser,
        runAsGroup: imageUser,
        seccompProfile: { type: 'RuntimeDefault' },
      },
      containers: [
        {
          name: containerName,
          image,
          imagePullPolicy: 'Never',
          env: settings.flatMap(([key, value]) =>
            isOfService.test(key) && value !== undefined ? [{ name: key, value }] : [],
          ),
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          },
        },
      ],
    },
  }
}

/** What podman calls the container of a pod. */
export function containerOf(pod: string): string {
  return `${pod}-${containerName}`
}
