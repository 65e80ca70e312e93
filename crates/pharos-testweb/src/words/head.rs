//! The head of the vocabulary: common words, the most frequent first, and the characters the Chinese tail is made of.

pub(super) const EN_NOUNS: &str = "time year people way day man thing woman life child world school state family \
student group country problem hand part place case week company system program question work government number \
night point home water room mother area money story fact month lot right study book eye job word business issue \
side kind head house service friend father power hour game line end member law car city community name president \
team minute idea body information back parent face level office door health person art war history party result \
change morning reason research girl guy moment air teacher force education foot boy age policy music market sense \
nation plan college interest death experience effect class field development role effort rate heart drug show \
leader light voice wife police mind price report decision son view relationship town road arm difference value \
building action season society tax director position player record paper space ground form event official matter \
center couple site project activity star table need court oil situation cost industry figure street image phone \
data picture practice piece land product doctor wall patient worker news test movie north love support technology \
step baby computer type attention film tree source organization hair look century evidence window culture chance \
brother energy period course summer plant opportunity term letter condition choice rule daughter south husband \
floor campaign material population call economy hospital church risk fire future bank defense security stage hope \
bird garden river bridge island kitchen village engine glass flower storm mountain winter spring autumn rain snow \
wind forest lake stone metal bread cheese fruit apple horse dog cat fish boat train ship station map key clock";

pub(super) const EN_VERBS: &str = "made took found gave told worked called tried asked needed became left put meant \
kept let began helped showed heard played ran moved lived believed brought happened wrote provided sat stood lost \
paid met included continued set learned changed led understood watched followed stopped created spoke read allowed \
added spent grew opened walked won offered remembered loved considered appeared bought waited served died sent \
expected built stayed fell cut reached killed remained suggested raised passed sold required reported decided \
pulled carried described developed shared protected measured painted repaired planted visited counted discovered \
lifted polished crossed guided answered gathered borrowed collected copied designed divided drew entered explained \
filled finished formed hid invited joined kissed listened marked noticed ordered planned printed pushed received";

pub(super) const EN_ADJECTIVES: &str = "new good old great big high small large national young different black long \
little important political bad white real best right social public sure low early able human local late hard major \
better economic strong possible whole free military true federal international full special easy clear recent \
certain personal open red difficult available likely short single medical current wrong private past foreign fine \
common poor natural significant similar hot dead central happy serious ready simple left physical general blue \
green dark various entire close legal religious cold final main huge popular traditional cultural quiet bright warm \
ancient gentle narrow broad silver golden wooden famous modern distant empty heavy hidden honest hungry kind lazy \
lonely lucky narrow noisy patient plain polite proud pure rare rich round sharp shy silent slow smooth soft steep";

pub(super) const ZH_NOUNS: &str = "时间 问题 工作 生活 社会 国家 城市 学生 学校 老师 孩子 朋友 世界 公司 经济 文化 历史 \
技术 科学 系统 方法 情况 地方 关系 作用 结果 条件 活动 市场 企业 产品 政府 人民 家庭 父母 妈妈 爸爸 身体 健康 医院 医生 \
音乐 电影 电视 新闻 报纸 杂志 图书 图书馆 文章 故事 小说 作者 读者 语言 文字 汉语 英语 数学 物理 化学 生物 地理 艺术 \
体育 足球 篮球 比赛 冠军 运动员 教练 天气 春天 夏天 秋天 冬天 早晨 中午 晚上 今天 明天 昨天 星期 月份 年代 世纪 道路 \
街道 桥梁 车站 火车 汽车 飞机 轮船 码头 港口 海洋 河流 湖泊 山脉 森林 草原 沙漠 岛屿 村庄 乡村 农民 农业 工业 工人 \
工厂 机器 电脑 网络 网站 网页 信息 数据 软件 程序 手机 电话 邮件 服务 顾客 商店 超市 价格 质量 数量 颜色 形状 大小 \
声音 光线 空气 水分 土地 石头 树木 花朵 动物 植物 鸟类 鱼类 食物 水果 蔬菜 米饭 面条 茶叶 咖啡 牛奶 面包 厨房 房间 \
窗户 桌子 椅子 衣服 鞋子 帽子 眼睛 手指 头发 心情 感情 思想 精神 意义 价值 目标 计划 项目 任务 机会 能力 经验 知识 \
教育 培训 课程 考试 成绩 大学 教授 研究 实验 理论 观点 态度 行为 习惯 传统 节日 礼物 旅行 旅游 风景 照片 地图 酒店 \
博物馆 公园 广场 剧院 餐馆 银行 邮局 警察 法律 制度 政策 会议 报告 计算机 工程师 科学家 作家 画家 诗人 记者 船长 \
月亮 太阳 星星 天空 云彩 雨水 雪花 春风 灯光 钟声 门口 院子 花园 小路 远方 故乡 童年 回忆 梦想 希望 秘密 答案";

pub(super) const ZH_VERBS: &str = "发现 研究 介绍 认为 表示 开始 进行 提供 建立 发展 使用 解决 讨论 参加 组织 支持 帮助 \
学习 了解 认识 记录 描写 观察 比较 选择 决定 准备 完成 实现 提高 改变 改进 影响 保护 收集 整理 展示 说明 解释 证明 \
回答 询问 寻找 等待 访问 参观 欣赏 享受 喜欢 热爱 尊重 关心 照顾 陪伴 邀请 欢迎 感谢 祝贺 纪念 庆祝 设计 制造 生产 \
修理 打扫 种植 采摘 烹饪 品尝 购买 出售 运输 测量 计算 分析 总结 报道 出版 翻译 创作 演奏 绘画 拍摄 保存 传播 连接";

pub(super) const ZH_ADJECTIVES: &str = "重要 美丽 古老 年轻 新鲜 普通 特殊 简单 复杂 安静 热闹 明亮 黑暗 温暖 寒冷 干净 \
宽阔 狭窄 遥远 丰富 著名 传统 现代 自然 健康 快乐 幸福 勇敢 聪明 善良 认真 仔细 努力 自由 独立 完整 清楚 准确 稳定 \
强大 优秀 高级 基本 主要 公共 私人 深刻 广泛 严格 活泼 可爱 神秘 朴素 精致 柔软 坚固 平静 忙碌 真实 有趣 伟大";

/// Common characters for the generated Chinese words; particles and pronouns are left out.
pub(super) const ZH_CHARACTERS: &str = "一人大国中上生学工地出分对成会主发年动同产种面方后多定行法所民经十之进着等部度家电力里如水化高自二\
理起小物现实加量都两体制机当使点从业本去把性好应开合还因由其些然前外天政四日那社义事平形相全表间样与关各重新线内数正心反明\
看原又利比质气第向道命变条只没结解问意建月公无系军情最立代想已通并提直题党程展五果料象员革位入常文总次品式活设及管特件长求\
老头基资边流路级少图山统接知较将组见计别她手角期根论运农指几九区强放决西被干做必战先回则任取据处队南给色光门即保治北造百规\
热领七海口东导器压志世金增争济阶油思术极交受联什认六共权收证改清己美再采转更单风切打白教速花带安场身车例真务具万每目至达走\
积示议声报斗完类八离华名确才科张信马节话米整空元况今集温传土许步群广石记需段研界拉林律叫且究观越织装影算低持音众书布复容儿\
须际商非验连断深难近矿千周委素技备半办青省列习响约支般史感劳便团往酸历市克何除消构府称太准精值号率族维划选标写存候毛亲快效\
斯院查江型眼王按格养易置派层片始却专状育厂京识适属圆包火住调满县局照参红细引听该铁价严龙飞松梅竹兰菊荷桃杏柳枫霜雾霞虹溪泉\
峰岭谷崖湾滩岛港帆舟桨锚灯塔钟鼓琴棋书画诗词曲歌舞茶酒饭菜盐糖姜葱蒜豆麦稻粟棉麻丝绸缎瓷陶铜银锡玉珠宝镜梳针剪刀斧锄犁耙";
