/** Pictures as SVG texts: deterministic, without a DOM, legible in light and dark. */
export { type ChartRow, type Mark, rowChart, type RowChart } from './row-chart.js'
export { type Band, timeChart, type TimeChart } from './time-chart.js'
export { clockTicks, lengthText, lengthTicks } from './time-ticks.js'
export { type Bucket, bucketChart, type BucketChart, type Series } from './bucket-chart.js'
export { shortName } from './theme.js'
export { stripChart, type StripChart, type StripMark } from './strip-chart.js'
