/** Applies a patch to settings, for the naive fold. */
import type { Settings, SettingsPatch } from '@daybook/core'

export const patched = (settings: Settings, patch: SettingsPatch): Settings => {
  const next = JSON.parse(JSON.stringify(settings)) as Settings
  const { breakers, ...rest } = patch
  merge(next as Loose, rest)
  merge(next.breakers.defaults as Loose, breakers?.defaults ?? {})
  const overrides = next.breakers.overrides as Loose
  for (const [type, override] of Object.entries(breakers?.overrides ?? {})) {
    if (override === null) delete overrides[type]
    else overrides[type] = { ...(overrides[type] as Loose | undefined), ...override }
  }
  return next
}
type Loose = Record<string, unknown>
const merge = (into: Loose, part: object): void => {
  for (const [key, value] of Object.entries(part)) {
    if (value === null) delete into[key]
    else if (typeof value === 'object') merge((into[key] ??= {}) as Loose, value as object)
    else into[key] = value
  }
}
