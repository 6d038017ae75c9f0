/** Says when a collector does not take what it is sent: the SDK tells nobody. */

/** What the exporters of the SDK have in common. `code`: 0 if the data were taken. */
interface Exporter {
  export: (data: never, done: (result: { readonly code: number; readonly error?: Error }) => void) => void
}

/** `what`: traces, or metrics. Warns once, until the collector takes them again. */
export const toldExporter = <E extends Exporter>(exporter: E, what: string, warn: (message: string) => void): E => {
  const told: Exporter = exporter
  const send = told.export.bind(exporter)
  let isRefused = false
  told.export = (data, done) =>
    send(data, (result) => {
      if (result.code !== 0 && !isRefused) warn(`the collector of telemetry does not take ${what}, which are lost until it does: ${reasonOf(result.error)}`)
      if (result.code === 0 && isRefused) warn(`the collector of telemetry takes ${what} again`)
      isRefused = result.code !== 0
      done(result)
    })
  return exporter
}

/** If a name has several addresses, and none answers, the error has no message. */
const reasonOf = (error: (Error & { readonly code?: unknown }) | undefined): string => error?.message || String(error?.code ?? 'it does not say why')
