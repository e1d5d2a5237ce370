// A run that is uploaded: a run file or a recording as the body, or a form with traces and power.
#pragma once

#include "server/api/api.h"
#include "server/http/routes.h"

namespace beryl::server {

HttpUploadHandler HandleRunUpload(Api& api);

}  // namespace beryl::server
